// What a question is about: a command, a change or a plan.
import type { PermissionRequest } from '../../app.ts'
import { safeText } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { wrapText } from '../../render/spans.ts'
import { diffLines } from './diff.ts'
import { markdownLines } from './markdown.ts'

export function detailLines({ type, text }: NonNullable<PermissionRequest['detail']>, sheet: Sheet): readonly string[] {
  if (type === 'diff') return diffLines(text, sheet)
  return type === 'markdown' ? markdownLines(text, sheet) : wrapText(safeText(text), sheet.width)
}
