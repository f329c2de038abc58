// Keys in dialogs of the agent: permissions and questions.
import type { PermissionAnswer, PermissionRequest } from '../../app.ts'
import type { AskAnswer } from '../host/protocol.ts'
import { edit, emptyEditor } from '../input/editor.ts'
import type { Press } from '../input/keys.ts'
import { type Step, step } from './effects.ts'
import { type AskDialog, type PermissionDialog, type QuestionsDialog, type TerminalState, withItem } from './state.ts'

export type PermissionOption = { readonly label: string; readonly key: string; readonly answer: PermissionAnswer }

export function permissionOptions({
  tool,
  rules = [],
  places = [],
  offersEdits,
  answers,
}: PermissionRequest): readonly PermissionOption[] {
  if (answers) {
    return [
      { label: answers.yes, key: 'y', answer: { type: 'allow' } },
      { label: answers.no, key: 'n', answer: { type: 'deny' } },
    ]
  }
  const { once, edits, no } = tool !== 'ExitPlanMode' ? words : offersEdits ? planWords : freePlanWords
  return [
    { label: once, key: 'y', answer: { type: 'allow' } },
    ...(offersEdits ? [{ label: edits, key: 'e', answer: { type: 'accept-edits' } } as const] : []),
    // A rule for one of many files is useless if all edits can be accepted.
    ...(rules.length === 0 || offersEdits
      ? []
      : [
          { label: `Always allow ${rules.join(', ')} in this session`, key: 'a', answer: { type: 'always' } } as const,
          ...places.map((place) => ({ ...keptIn[place], answer: { type: 'always', place } }) as const),
        ]),
    { label: no, key: 'n', answer: { type: 'deny' } },
  ]
}

const words = {
  once: 'Allow once',
  edits: 'Allow, and accept all edits in the workspace from now on',
  no: 'Deny, and say why',
}
const planWords = {
  once: 'Carry it out, and ask before each edit',
  edits: 'Carry it out, and accept all edits in the workspace',
  no: 'Keep planning, and say what to change',
}
/** In the mode `allow`, the agent continues without questions. */
const freePlanWords = { ...planWords, once: 'Carry it out, and ask about nothing' }
const keptIn = {
  project: { label: '… always in this project', key: 'p' },
  user: { label: '… always in all projects', key: 'u' },
} as const

export function pressInPermission(state: TerminalState, dialog: PermissionDialog, press: Press): Step {
  const { reason } = dialog
  if (reason) {
    if (press.key === 'escape') return step(replaced(state, withoutReason(dialog)))
    if (press.key === 'enter') {
      const text = reason.text.trim()
      return answer(state, dialog, text === '' ? { type: 'deny' } : { type: 'deny', reason: text })
    }
    return step(replaced(state, { ...dialog, reason: edit(reason, press) ?? reason }))
  }
  const { request } = dialog
  const hasOwnWords = request.answers !== undefined
  if (press.key === 'escape' && hasOwnWords) return answer(state, dialog, { type: 'deny' })
  if (press.key === 'ctrl+o' && request.detail) {
    return step(withItem(state, { type: 'detail', title: request.title, detail: request.detail }))
  }
  const options = permissionOptions(request)
  // Elsewhere this key changes the mode. Here it must not move the selection to "deny".
  if (press.key === 'shift+tab')
    return request.offersEdits ? answer(state, dialog, { type: 'accept-edits' }) : step(state)
  const chosen = chosenOption(
    press,
    dialog.selected,
    options.length,
    options.map(({ key }) => key),
  )
  if (chosen === undefined)
    return step(replaced(state, { ...dialog, selected: moved(press, dialog.selected, options.length) }))
  const option = options[chosen]
  if (option === undefined) return step(state)
  if (option.answer.type === 'deny' && !hasOwnWords)
    return step(replaced(state, { ...dialog, selected: chosen, reason: emptyEditor }))
  return answer(state, dialog, option.answer)
}

/** The rows of a question: its options, and a row to type something else. */
export function questionRows({ questions, answers }: QuestionsDialog): readonly string[] {
  return [...(questions[answers.length]?.options ?? []).map(({ label }) => label), 'Something else']
}

export function pressInQuestions(state: TerminalState, dialog: QuestionsDialog, press: Press): Step {
  const { own, ticked } = dialog
  if (own) {
    if (press.key === 'escape') return step(replaced(state, { ...withoutOwn(dialog) }))
    if (press.key === 'enter' && own.text.trim() !== '') return answered(state, dialog, [...ticked, own.text.trim()])
    return step(replaced(state, { ...dialog, own: edit(own, press) ?? own }))
  }
  const question = dialog.questions[dialog.answers.length]
  const rows = questionRows(dialog)
  const isOwn = (row: number) => row === rows.length - 1
  if (question?.isMultiple && press.key === 'text' && press.text === ' ' && !isOwn(dialog.selected)) {
    return step(replaced(state, { ...dialog, ticked: toggled(ticked, rows[dialog.selected] ?? '') }))
  }
  const chosen = chosenOption(press, dialog.selected, rows.length, [])
  if (chosen === undefined)
    return step(replaced(state, { ...dialog, selected: moved(press, dialog.selected, rows.length) }))
  if (isOwn(chosen)) return step(replaced(state, { ...dialog, selected: chosen, own: emptyEditor }))
  const label = rows[chosen] ?? ''
  if (!question?.isMultiple) return answered(state, dialog, [label])
  if (press.key !== 'enter')
    return step(replaced(state, { ...dialog, ticked: toggled(ticked, label), selected: chosen }))
  return answered(state, dialog, ticked.length > 0 ? ticked : [label])
}

function answered(state: TerminalState, dialog: QuestionsDialog, labels: readonly string[]): Step {
  const answers = [...dialog.answers, labels]
  if (answers.length === dialog.questions.length) return answer(state, dialog, answers)
  return step(replaced(state, { ...withoutOwn(dialog), answers, selected: 0, ticked: [] }))
}

function toggled(labels: readonly string[], label: string): readonly string[] {
  return labels.includes(label) ? labels.filter((each) => each !== label) : [...labels, label]
}

/** By Enter, by number, or by letter. */
function chosenOption(press: Press, selected: number, count: number, letters: readonly string[]): number | undefined {
  if (press.key === 'enter') return selected
  if (press.key !== 'text') return undefined
  const typed = (press.text ?? '').toLowerCase()
  const number = /^[1-9]$/.test(typed) ? Number(typed) - 1 : letters.indexOf(typed)
  return number >= 0 && number < count ? number : undefined
}

function moved({ key }: Press, selected: number, count: number): number {
  if (key === 'up' || key === 'shift+tab') return (selected + count - 1) % count
  return key === 'down' || key === 'tab' ? (selected + 1) % count : selected
}

function replaced(state: TerminalState, dialog: AskDialog): TerminalState {
  return { ...state, asks: state.asks.map((each) => (each.id === dialog.id ? dialog : each)) }
}

function answer(state: TerminalState, { id }: AskDialog, given: AskAnswer): Step {
  return step({ ...state, asks: state.asks.filter((each) => each.id !== id) }, { type: 'answer', id, answer: given })
}

function withoutReason({ reason: _, ...dialog }: PermissionDialog): PermissionDialog {
  return dialog
}

function withoutOwn({ own: _, ...dialog }: QuestionsDialog): QuestionsDialog {
  return dialog
}
