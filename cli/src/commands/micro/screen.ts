// The screen of `everlong micro`: what each reduction would remove, why, and the balance.

import { count, counted, cutStart, duration, oneLine, visible } from '@everlong/agent/render'
import type { PlannedItem } from 'everlong/internal/compaction'
import { sourceInWords } from '../../render/context.ts'
import { fileHeading, heading, paragraph, type Screen, table } from '../../render/screen.ts'
import { type MicroApplied, type MicroReduction, type MicroReport, shortName } from './report.ts'

export function render(report: MicroReport, screen: Screen): readonly string[] {
  const model = report.model === undefined ? 'unknown model' : oneLine(report.model)
  return [
    fileHeading(report.path, screen),
    ...paragraph(`${count(report.size.tokens)} tokens, ${sourceInWords(report.size)} (${model})`, screen),
    ...paragraph(cacheInWords(report), screen),
    ...report.reductions.flatMap((reduction) => ['', ...reductionLines(reduction, screen)]),
    '',
    ...(report.applied ? appliedLines(report.applied, report, screen) : untouchedLines(report, screen)),
  ]
}

function cacheInWords({ cache, now }: MicroReport): string {
  if (cache.lastAnswer === undefined) return 'cache unknown: the newest answer has no time'
  if (cache.lastAnswer > now) return 'cache unknown: the newest answer is from the future'
  const ago = duration(now - cache.lastAnswer)
  return `cache ${cache.type}: the newest answer came ${ago} ago, and the cache lasts ${duration(cache.lifetime)}`
}

function reductionLines(reduction: MicroReduction, screen: Screen): readonly string[] {
  const { mechanism, type, way, freed, items, sum, thinking } = reduction
  const reason = oneLine(reduction.reason)
  if (type === 'declined') {
    return [
      heading(mechanism, screen) + screen.paint('dim', '  nothing to do'),
      ...paragraph(reason, screen),
      ...(sum === undefined ? [] : paragraph(`If it ran: ${sum}`, screen, 'dim')),
    ]
  }
  const would = way === 'request' ? 'would ask the server to clear with the next request' : 'would edit the session'
  const gain = freed > 0 ? `, freeing ${count(freed)} tokens` : ''
  return [
    heading(mechanism, screen) + screen.paint('green', `  ${would}${gain}`),
    ...paragraph(reason, screen),
    ...itemLines(items, screen),
    ...(thinking === 'untouched' ? [] : paragraph(thinkingWords[thinking ?? 'untouched'], screen)),
    ...(sum === undefined || freed === 0 ? [] : paragraph(sum, screen)),
  ]
}

const thinkingWords = {
  untouched: '',
  removed: 'This model binds thinking to its prefix, so thinking after the change is removed too.',
  delegated: 'This model binds thinking to its prefix, so the server clears and the signatures stay valid.',
} as const

const maxItems = 12

function itemLines(items: readonly PlannedItem[], screen: Screen): readonly string[] {
  if (items.length === 0) return []
  const shown = items.slice(0, maxItems)
  // The end of a path is more informative than its beginning.
  const room = Math.max(12, screen.width - 56)
  const rows = shown.map(({ type, tool, path, message, tokens, why, toolUseId, uuids }) => [
    count(tokens),
    oneLine(tool ?? type),
    cutStart(oneLine(path ?? toolUseId ?? uuids[0] ?? ''), room),
    `#${message + 1}`,
    oneLine(why),
  ])
  const columns = [
    { name: 'tokens', align: 'right' },
    { name: 'tool' },
    { name: 'path or id' },
    { name: 'message', align: 'right' },
    { name: 'why' },
  ] as const
  const rest = items.slice(maxItems)
  const more = `  … and ${count(rest.length)} more, ${count(rest.reduce((sum, { tokens }) => sum + tokens, 0))} tokens`
  return [...table(columns, rows, screen), ...(rest.length > 0 ? [more] : [])]
}

function untouchedLines({ reductions, path }: MicroReport, screen: Screen): readonly string[] {
  const first = reductions.find(({ way }) => way === 'edits')
  if (!first) return paragraph('Nothing was written.', screen)
  const command = `everlong micro ${visible(path)} --mechanism ${shortName(first.mechanism)} --apply`
  return paragraph(`Nothing was written. To apply the first edit: ${command}`, screen)
}

function appliedLines(applied: MicroApplied, { path }: MicroReport, screen: Screen): readonly string[] {
  const { mechanism, uuids, size, stored, freed } = applied
  const { written, kept, notText } = stored
  const originals = [
    `${counted(written.length, 'original')} written to ${visible(stored.folder)}`,
    ...(kept.length > 0 ? [`${count(kept.length)} already there`] : []),
    ...(notText.length > 0 ? [`${count(notText.length)} with images, kept only in the transcript`] : []),
  ].join(', ')
  const edits = `${counted(uuids.length, 'edit')} appended (${uuids.join(', ')})`
  return [
    heading(`Applied ${mechanism}`, screen),
    ...paragraph(`${edits}; freed ${count(freed)} tokens, ${count(size.tokens)} left`, screen),
    ...(written.length + kept.length + notText.length > 0 ? paragraph(originals, screen) : []),
    ...paragraph(`To undo it: everlong undo ${visible(path)}`, screen),
  ]
}
