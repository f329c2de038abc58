// The subject of a question: a command, a change or a plan.
import type { PermissionRequest } from '../../app.ts'
import { safeText } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { wrapText } from '../../render/spans.ts'
import { diffLines } from './diff.ts'
import { markdownLines } from './markdown.ts'

type RequestDetail = NonNullable<PermissionRequest['detail']>

const drawn = new WeakMap<RequestDetail, { readonly width: number; readonly lines: readonly string[] }>()

/** Drawn once per width, because every key redraws the question. */
export function detailLines(detail: RequestDetail, sheet: Sheet): readonly string[] {
  const known = drawn.get(detail)
  if (known?.width === sheet.width) return known.lines
  const lines = linesOf(detail, sheet)
  drawn.set(detail, { width: sheet.width, lines })
  return lines
}

function linesOf({ type, text }: RequestDetail, sheet: Sheet): readonly string[] {
  if (type === 'diff') return diffLines(text, sheet)
  return type === 'markdown' ? markdownLines(text, sheet) : wrapText(safeText(text), sheet.width)
}
