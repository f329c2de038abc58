// Questions as plain lines, and a typed line as the keys that answer them.
import type { PermissionRequest } from '../app.ts'
import { oneLine } from '../render/safe.ts'
import type { Sheet } from '../render/sheet.ts'
import { requestDetail } from './draw/asks.ts'
import type { Press } from './input/keys.ts'
import { permissionOptions, questionRows } from './state/press-asks.ts'
import type { AskDialog, Picker, TerminalState } from './state/state.ts'

/** The question that waits for an answer. */
export function plainQuestion({ asks, overlay }: TerminalState, sheet: Sheet): readonly string[] | undefined {
  const [ask] = asks
  if (ask) return askLines(ask, sheet)
  return overlay?.type === 'picker' ? pickerLines(overlay) : undefined
}

function askLines(ask: AskDialog, sheet: Sheet): readonly string[] {
  if (ask.type === 'permission') {
    const { title, reason } = ask.request
    return [
      `Permission: ${oneLine(title)}`,
      ...(reason === undefined ? [] : [oneLine(reason)]),
      ...requestDetail(ask, sheet, Number.POSITIVE_INFINITY),
      ...permissionOptions(ask.request).map(({ label, key }, at) => `${at + 1}. ${oneLine(label)} (${key})`),
      `Type a number or letter.${ask.request.answers ? '' : ' To deny with a reason, type n and the reason.'}`,
    ]
  }
  const question = ask.questions[ask.answers.length]
  const options = questionRows(ask).map((label, at) => {
    const about = question?.options[at]?.description
    return `${at + 1}. ${oneLine(label)}${about === undefined ? '' : `: ${oneLine(about)}`}`
  })
  const how = question?.isMultiple ? 'Type numbers, such as 1,3, or an answer.' : 'Type a number, or an answer.'
  return [`Question: ${oneLine(question?.question ?? '')}`, ...options, how]
}

function pickerLines({ title, choices }: Picker): readonly string[] {
  const rows = choices.map(
    ({ label, detail }, at) => `${at + 1}. ${oneLine(label)}${detail === undefined ? '' : ` (${oneLine(detail)})`}`,
  )
  return [oneLine(title), ...rows, 'Type a number, or nothing to leave.']
}

/** Undefined if there is no question. Empty if the line is not an answer. */
export function keysFor(line: string, { asks, overlay }: TerminalState): readonly Press[] | undefined {
  const [ask] = asks
  const text = line.trim()
  if (ask?.type === 'permission') return permissionKeys(text, ask.request)
  if (ask?.type === 'questions')
    return questionKeys(text, questionRows(ask).length, ask.questions[ask.answers.length]?.isMultiple)
  if (overlay?.type !== 'picker') return undefined
  if (text === '') return [{ key: 'escape' }]
  const chosen = Number(text)
  if (!Number.isInteger(chosen) || chosen < 1 || chosen > overlay.choices.length) return []
  return [...Array.from({ length: chosen - 1 }, () => ({ key: 'down' })), { key: 'enter' }]
}

function permissionKeys(text: string, request: PermissionRequest): readonly Press[] {
  const letters = permissionOptions(request).map(({ key }) => key)
  const [word = '', ...reason] = text.split(/\s+/)
  const at = /^\d+$/.test(word) ? Number(word) - 1 : letters.indexOf(word.toLowerCase().slice(0, 1))
  const letter = letters[at]
  if (letter === undefined) return []
  if (letter !== 'n' || request.answers) return [typed(letter)]
  return [typed('n'), ...(reason.length > 0 ? [typed(reason.join(' '))] : []), { key: 'enter' }]
}

function questionKeys(text: string, rows: number, isMultiple = false): readonly Press[] {
  if (text === '') return []
  const numbers = text.split(/[\s,]+/).map(Number)
  const isChoice = numbers.every((number) => Number.isInteger(number) && number >= 1 && number < rows)
  if (!isChoice) return [typed(String(rows)), typed(text), { key: 'enter' }]
  if (isMultiple) return [...numbers.map((number) => typed(String(number))), { key: 'enter' }]
  return numbers.length === 1 ? [typed(text)] : []
}

function typed(text: string): Press {
  return { key: 'text', text }
}
