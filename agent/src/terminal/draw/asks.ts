// Dialogs of the agent: a permission with its diff or command, and questions.
import { counted } from '../../render/numbers.ts'
import { oneLine } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { wrapSpans } from '../../render/spans.ts'
import { cut } from '../../render/width.ts'
import { permissionOptions, questionRows } from '../state/press-asks.ts'
import type { AskDialog, PermissionDialog, QuestionsDialog, TerminalState } from '../state/state.ts'
import type { Drawing } from './drawing.ts'
import { editorLines } from './editor-box.ts'
import { detailLines } from './request-detail.ts'

export function askBox(ask: AskDialog, state: TerminalState, sheet: Sheet): Drawing {
  const rule = sheet.paint('yellow', '─'.repeat(sheet.width))
  const waiting = state.asks.length - 1
  const more = waiting > 0 ? [sheet.paint('dim', `${counted(waiting, 'more question')} after this`)] : []
  // Above and below the dialog are empty lines, its rule, the keys, the hint and the footer.
  const room = state.size.rows - 7 - more.length - (state.hint === undefined ? 0 : 1)
  const inside = ask.type === 'permission' ? permissionBox(ask, sheet, room) : questionBox(ask, sheet, room)
  return {
    lines: [rule, ...inside.lines, ...more],
    ...(inside.cursor ? { cursor: { x: inside.cursor.x, y: inside.cursor.y + 1 } } : {}),
  }
}

/** At most `max` lines, because the options must stay on the screen for any request. */
function firstLines(lines: readonly string[], max: number): readonly string[] {
  return lines.length <= max ? lines : max < 1 ? [] : [...lines.slice(0, max - 1), '…']
}

const maxTitle = 4
const maxReason = 3

function permissionBox(dialog: PermissionDialog, sheet: Sheet, rows: number): Drawing {
  const { request, reason, selected } = dialog
  const choices = permissionOptions(request)
  const room = Math.max(1, rows - choices.length)
  const words = isRepeated(request) && room >= minRoom ? 'Run this command:' : oneLine(request.title)
  const title = firstLines(wrapSpans([{ text: words, style: 'bold' }], sheet), Math.min(maxTitle, room))
  const whyLines =
    request.reason === undefined ? [] : wrapSpans([{ text: oneLine(request.reason), style: 'yellow' }], sheet)
  const why = firstLines(whyLines, Math.min(maxReason, room - title.length))
  const head = [...title, ...why, ...requestDetail(dialog, sheet, room - title.length - why.length - 1), '']
  if (reason)
    return withEditor(head, 'Why not? Enter sends it, Esc goes back.', editorLines(reason, sheet, look), sheet)
  const options = choices.map(({ label, key }, at) => optionLine(`${oneLine(label)} (${key})`, { at, selected }, sheet))
  return {
    lines: [
      ...head,
      ...options,
      sheet.paint('dim', cut(`Enter chooses, Esc ${request.answers ? 'means no' : 'interrupts'}.`, sheet.width)),
    ],
  }
}

/** In a lower window the title may be all that fits. */
const minRoom = 6

/** The title is the first line of the command that is shown below it. A title such as `Connect to example.com` is not. */
function isRepeated({ tool, title, detail }: PermissionDialog['request']): boolean {
  return tool === 'Bash' && detail?.type === 'text' && title.startsWith('Run ') && title !== `Run ${detail.text}`
}

/** The change or the whole command, as far as it fits. */
export function requestDetail(
  { request }: Pick<PermissionDialog, 'request'>,
  sheet: Sheet,
  room: number,
): readonly string[] {
  const { detail } = request
  // The title already contains a short command.
  if (!detail || room < 1 || (detail.type === 'text' && request.title === `Run ${detail.text}`)) return []
  const lines = detailLines(detail, { ...sheet, width: sheet.width - 2 })
  const left = lines.length - room
  const shown = lines.slice(0, room).map((line) => `  ${line}`)
  return left > 0
    ? [...shown, sheet.paint('dim', cut(`  … ${counted(left, 'more line')}. Ctrl+O prints all of it.`, sheet.width))]
    : shown
}

const look = { mark: '› ', most: 3, empty: '' }

function questionBox(dialog: QuestionsDialog, sheet: Sheet, rows: number): Drawing {
  const { questions, answers, selected, ticked, own } = dialog
  const question = questions[answers.length]
  const place = questions.length > 1 ? ` (${answers.length + 1} of ${questions.length})` : ''
  const labels = questionRows(dialog)
  const title = wrapSpans([{ text: `${oneLine(question?.question ?? '')}${place}`, style: 'bold' }], sheet)
  const head = [...firstLines(title, Math.max(1, Math.min(maxTitle, rows - labels.length))), '']
  if (own) return withEditor(head, 'Your answer. Enter sends it, Esc goes back.', editorLines(own, sheet, look), sheet)
  const described = question?.options.filter(({ description }) => description !== undefined).length ?? 0
  const room = Math.floor((rows - labels.length - head.length + 1) / Math.max(1, described))
  const options = labels.flatMap((label, at) => {
    const box =
      question?.isMultiple && at < (question?.options.length ?? 0) ? (ticked.includes(label) ? '[x] ' : '[ ] ') : ''
    const description = question?.options[at]?.description
    const about =
      description === undefined
        ? []
        : wrapSpans([{ text: oneLine(description), style: 'dim' }], sheet, { first: '     ', rest: '     ' })
    return [optionLine(`${box}${oneLine(label)}`, { at, selected }, sheet), ...firstLines(about, room)]
  })
  const keys = question?.isMultiple ? 'Space ticks, Enter sends, Esc interrupts.' : 'Enter chooses, Esc interrupts.'
  return { lines: [...head, ...options, sheet.paint('dim', cut(keys, sheet.width))] }
}

function optionLine(
  text: string,
  { at, selected }: { readonly at: number; readonly selected: number },
  sheet: Sheet,
): string {
  const line = cut(`${at === selected ? '›' : ' '} ${at + 1}. ${text}`, sheet.width)
  return at === selected ? sheet.paint(['cyan', 'bold'], line) : line
}

function withEditor(head: readonly string[], title: string, { lines, cursor }: Drawing, sheet: Sheet): Drawing {
  return {
    lines: [...head, sheet.paint('dim', cut(title, sheet.width)), ...lines],
    ...(cursor ? { cursor: { x: cursor.x, y: cursor.y + head.length + 1 } } : {}),
  }
}
