// A folded item in full: a tool call with its input and output, or a receipt with all its details.
import { count, exactDollars, seconds } from '../../render/numbers.ts'
import { oneLine, safeText } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { wrapText } from '../../render/spans.ts'
import { cut } from '../../render/width.ts'
import type { OriginalMessage } from '../host/protocol.ts'
import type { Detail } from '../state/state.ts'
import { diffLines } from './diff.ts'
import { callTitle } from './items.ts'
import { markdownLines } from './markdown.ts'

/** Drawn once per width, because scrolling redraws it often. */
export function createDetailLines(): (detail: Detail, sheet: Sheet) => readonly string[] {
  const drawn = new WeakMap<Detail, { readonly width: number; readonly lines: readonly string[] }>()
  return (detail, sheet) => {
    const known = drawn.get(detail)
    if (known?.width === sheet.width) return known.lines
    const lines = detail.type === 'call' ? callDetail(detail, sheet) : receiptDetail(detail, sheet)
    drawn.set(detail, { width: sheet.width, lines })
    return lines
  }
}

export function detailTitle(detail: Detail, width: number): string {
  return detail.type === 'call' ? callTitle(detail.call, width) : oneLine(detail.line)
}

function callDetail({ call }: Extract<Detail, { type: 'call' }>, sheet: Sheet): readonly string[] {
  const { width } = sheet
  return [
    ...section('Input', wrapText(safeText(call.input), width), sheet),
    ...(call.diff === undefined ? [] : section('Change', diffLines(call.diff, sheet), sheet)),
    ...section(call.isError ? 'Error' : 'Output', wrapText(safeText(call.output).trimEnd(), width), sheet),
  ]
}

function receiptDetail({ receipt, original }: Extract<Detail, { type: 'receipt' }>, sheet: Sheet): readonly string[] {
  const { width } = sheet
  const { annotations, restored, notRestored, instructions } = receipt
  const bullets = (texts: readonly string[], none: string) =>
    texts.length === 0 ? [none] : texts.flatMap((text) => wrapText(oneLine(text), width, { first: '- ', rest: '  ' }))
  return [
    ...section(
      'What happened',
      priceLines(receipt).flatMap((line) => wrapText(line, width)),
      sheet,
    ),
    ...(instructions === undefined ? [] : section('Your instructions', wrapText(safeText(instructions), width), sheet)),
    ...section('Summary', markdownLines(receipt.summary, sheet), sheet),
    ...section(
      'Checked by code',
      bullets(
        annotations.map(({ text, reason }) => `${text}: ${reason}`),
        'Nothing to correct or to mark.',
      ),
      sheet,
    ),
    ...section(
      'Restored',
      bullets(
        restored.map(({ kind, title }) => `${kind}: ${title}`),
        'Nothing.',
      ),
      sheet,
    ),
    ...(notRestored === undefined ? [] : section('Not restored', wrapText(safeText(notRestored), width), sheet)),
    ...section('The original', originalLines(original, sheet), sheet),
  ]
}

function priceLines({
  before,
  after,
  durationMs,
  trigger,
  mechanism,
  model,
  cost,
}: Extract<Detail, { type: 'receipt' }>['receipt']) {
  return [
    `${count(before)} → ${count(after)} tokens in ${seconds(durationMs)}`,
    `${trigger === 'manual' ? 'Asked for by you' : `Started by itself (${oneLine(trigger)})`}, ${model === undefined ? 'without a model' : `summary by ${oneLine(model)}`} (${oneLine(mechanism)})`,
    `Price: ${cost === undefined ? 'nothing' : exactDollars(cost)}`,
  ]
}

function originalLines(original: readonly OriginalMessage[] | undefined, { width, paint }: Sheet): readonly string[] {
  if (original === undefined) return ['Reading the transcript…']
  if (original.length === 0) return ['The transcript does not say.']
  return original.flatMap(({ role, text, isCut }) => {
    const lines = wrapText(safeText(text).trimEnd(), width - 2, { first: '  ', rest: '  ' })
    const more = isCut ? [paint('dim', cut('  … more in the transcript', width))] : []
    return [paint('dim', cut(oneLine(role), width)), ...lines, ...more]
  })
}

function section(title: string, lines: readonly string[], { paint }: Sheet): readonly string[] {
  return [paint('bold', title), ...lines, '']
}
