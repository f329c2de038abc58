// Overlays that the person opens: a list to choose from, and the viewer of folded items.
import { oneLine } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { columnsOf, cut } from '../../render/width.ts'
import { matchingChoices } from '../state/choices.ts'
import { type Picker, sheetOf, type TerminalState, type Viewer } from '../state/state.ts'
import { createDetailLines, detailTitle } from './details.ts'
import type { Drawing } from './drawing.ts'

export function pickerBox(picker: Picker, { size }: Pick<TerminalState, 'size'>, { width, paint }: Sheet): Drawing {
  const choices = matchingChoices(picker)
  const room = Math.max(3, Math.floor((size.rows - 8) / 2))
  const top = Math.max(0, Math.min(picker.selected - Math.floor(room / 2), choices.length - room))
  const rows = choices.slice(top, top + room).flatMap(({ label, detail }, at) => {
    const isSelected = top + at === picker.selected
    const line = cut(`${isSelected ? '›' : ' '} ${oneLine(label)}`, width)
    const about = detail === undefined ? [] : [paint('dim', cut(`    ${oneLine(detail)}`, width))]
    return [isSelected ? paint(['cyan', 'bold'], line) : line, ...about]
  })
  const left = choices.length - top - room
  const more = left > 0 ? `… and ${left} more. ` : ''
  const place = choices.length > room ? ` · ${picker.selected + 1} of ${choices.length}` : ''
  const title = cut(`${oneLine(picker.title)}${place}`, width)
  const filter = `Filter: ${cut(oneLine(picker.filter), width - 9)}`
  return {
    lines: [
      paint('dim', '─'.repeat(width)),
      paint('bold', title),
      filter,
      ...(choices.length === 0 ? ['  Nothing matches.'] : rows),
      paint('dim', cut(`${more}Enter chooses, Esc closes, typing filters.`, width)),
    ],
    cursor: { x: columnsOf(filter) + (picker.filter.endsWith(' ') ? 1 : 0), y: 2 },
  }
}

const detailLines = createDetailLines()

/** Rows for the text, beside the viewer's own lines and the rest of the screen. */
function viewerRows({ rows }: TerminalState['size']): number {
  return Math.max(3, rows - 9)
}

/** The maximum scroll position of the viewer. */
export function lastTop(viewer: Viewer, state: TerminalState): number {
  const detail = state.details[viewer.at]
  return detail ? Math.max(0, detailLines(detail, sheetOf(state)).length - viewerRows(state.size)) : 0
}

export function viewerBox(viewer: Viewer, state: TerminalState, sheet: Sheet): Drawing {
  const { details, size } = state
  const { width, paint } = sheet
  const detail = details[viewer.at]
  if (!detail) return { lines: [] }
  const lines = detailLines(detail, sheet)
  const top = Math.min(viewer.top, lastTop(viewer, state))
  const shown = lines.slice(top, top + viewerRows(size))
  const place = `${viewer.at + 1} of ${details.length}`
  const scrolled = lines.length > shown.length ? ` · lines ${top + 1}–${top + shown.length} of ${lines.length}` : ''
  return {
    lines: [
      paint('magenta', '─'.repeat(width)),
      paint('bold', cut(detailTitle(detail, width), width)),
      paint('dim', cut(`${place}${scrolled}`, width)),
      ...shown,
      paint('dim', cut('↑↓ scroll · ←→ older, newer · Esc closes', width)),
    ],
  }
}
