// `everlong inspect --epochs`: the parts between compactions, one row each.

import { count, counted, dateTime, oneLine, short } from '@everlong/agent/render'
import { type Epoch, isTranscript } from 'everlong/internal'
import type { Io } from '../../io.ts'
import { type Outcome, orNoTranscript, reading } from '../../outcome.ts'
import { type Cell, type Column, fileHeading, paragraph, type Screen, table } from '../../render/screen.ts'
import { scanWithProgress } from '../../session.ts'

export type EpochsReport = { readonly path: string; readonly epochs: readonly Epoch[] }

export function gather(path: string, io: Io): Outcome<EpochsReport> {
  return reading(path, () => {
    const scan = scanWithProgress(path, io)
    const report = { path, epochs: scan.epochs }
    return orNoTranscript(report, { path, bytes: scan.bytes, isTranscript: isTranscript(scan) })
  })
}

export function render({ path, epochs }: EpochsReport, screen: Screen): readonly string[] {
  const cells = epochs.map((epoch) => row(epoch, screen))
  // Only old clients wrote a ratio.
  const isShown = (at: number) => columns[at]?.name !== 'ratio' || cells.some((row) => row[at] !== '')
  const shown = <T>(items: readonly T[]) => items.filter((_, at) => isShown(at))
  const [names = '', ...rows] = table(shown(columns), cells.map(shown), screen)
  const words = Object.entries(columnsInWords).flatMap(([name, meaning]) => (names.includes(name) ? [meaning] : []))
  return [
    fileHeading(path, screen),
    `  ${counted(epochs.length, 'epoch')}, ${compactionsInWords(epochs)}`,
    '',
    names,
    ...rows,
    '',
    ...paragraph(words.join(' · '), screen, 'dim'),
  ]
}

const columns: readonly Column[] = [
  { name: '#', align: 'right' },
  { name: 'by' },
  { name: 'before', align: 'right' },
  { name: 'after', align: 'right' },
  { name: 'began' },
  { name: 'messages', align: 'right' },
  { name: 'turns', align: 'right', isSpare: true },
  { name: 'kept', align: 'right' },
  { name: 'ratio', align: 'right', isSpare: true },
  { name: 'summary', align: 'right', isSpare: true },
  { name: 'orphans', align: 'right', isSpare: true },
]

const columnsInWords = {
  by: 'by: what started it',
  before: 'before, after: tokens',
  turns: 'turns: by the user',
  kept: 'kept: messages kept verbatim',
  ratio: 'ratio: share of the messages that was kept, as the client wrote it',
  summary: 'summary: characters',
  orphans: 'orphans: entries whose parent is not in the file',
}

function row(epoch: Epoch, screen: Screen): readonly Cell[] {
  const { openedBy } = epoch
  return [
    String(epoch.number),
    openedBy ? { text: byInWords(openedBy), style: openedBy.trigger === 'auto' ? 'cyan' : 'magenta' } : 'start',
    tokens(openedBy?.tokensBefore),
    tokens(openedBy?.tokensAfter),
    began(epoch, screen),
    count(epoch.messages),
    count(epoch.humanTurns),
    keptInWords(openedBy),
    openedBy?.compressionRatio === undefined ? '' : String(openedBy.compressionRatio),
    openedBy?.summary ? count(openedBy.summary.characters) : '',
    count(epoch.orphans),
  ]
}

/** Old clients recorded the number of messages. */
function keptInWords(openedBy: Epoch['openedBy']): string {
  if (!openedBy) return ''
  const { kept, totalMessages } = openedBy
  return `${count(kept)}${totalMessages === undefined ? '' : ` of ${count(totalMessages)}`}`
}

function compactionsInWords(epochs: readonly Epoch[]): string {
  const all = epochs.flatMap(({ openedBy }) => openedBy ?? [])
  const undone = all.filter(({ isUndone }) => isUndone).length
  return `${counted(all.length, 'compaction')}${undone === 0 ? '' : `, ${count(undone)} of them undone`}`
}

function byInWords({ trigger, isUndone }: NonNullable<Epoch['openedBy']>): string {
  return `${oneLine(trigger)}${isUndone ? ', undone' : ''}`
}

/** Omits the year if there is little room. */
function began({ openedBy, from }: Epoch, { width, timeZone }: Screen): string {
  return dateTime(openedBy?.time ?? from, timeZone).slice(width < 90 ? 5 : 0)
}

function tokens(value: number | undefined): string {
  return value === undefined ? '' : short(value)
}
