// One compaction: its input and output, the sources of the summary's sentences, its doubts, and its losses.
import type { Entry } from 'everlong'
import { costOf, foldEntries, numberAt, objectAt, readAnswerLine, type Scan, stringAt, textOf } from 'everlong/internal'
import {
  breakdown,
  compactionEstimates,
  contentWords,
  createWeigher,
  lostIn,
  sourceText,
  type Transcript,
} from 'everlong/internal/compaction'
import type { CompactionData, CompactionPrice, CompactionRow, ContextPart, Restored, UserWords } from './api.ts'
import type { Conversation } from './conversation.ts'
import { lostItem } from './lost-item.ts'
import { type Moment, momentOf } from './moment.ts'
import { createSourceFinder } from './sources.ts'
import { summaryLines } from './summary-lines.ts'
import { contextsAround, howFound, wordsBefore } from './user-words.ts'

export type CompactionInput = {
  readonly row: CompactionRow
  readonly transcript: Pick<Transcript, 'entries'>
  readonly conversation: Conversation
  readonly scan: Scan
  /** The present losses. */
  readonly lost: ReturnType<typeof lostIn>
}

export function compactionData({ row, transcript, conversation, scan, lost }: CompactionInput): CompactionData {
  const { entries } = transcript
  const moment = momentOf(entries, row)
  const [before, after] = [entries.slice(0, moment.start), entries.slice(0, moment.end)]
  const contexts = contextsAround(entries, row)
  const then = lostIn(after)
  const still = new Set(lost.facts.map(keyOf))
  const gone = then.facts.filter(({ compaction }) => compaction === row.number)
  const sourcesOf = createSourceFinder(textsOf(before, conversation))
  return {
    row,
    before: partOf(before, conversation),
    after: partOf(after, conversation),
    summary: summaryLines(contexts.after?.summary ?? '', { doubts: then.unverified, sourcesOf }),
    doubts: then.unverified,
    words: wordsBefore(before, contexts.before).map(({ text, uuid }): UserWords => {
      const item = uuid === undefined ? null : (conversation.indexOf(uuid) ?? null)
      return { item, text, found: howFound(text, contexts.after) }
    }),
    gone: gone.map((fact) => ({ ...lostItem(fact, conversation), isSettled: !still.has(keyOf(fact)) })),
    unknown: then.unknown ?? null,
    restored: restoredIn(entries.slice(moment.start, moment.end), conversation),
    price: priceOf({ row, entries, moment, scan }),
  }
}

function keyOf({ type, text }: { readonly type: string; readonly text: string }): string {
  return `${type} ${text}`
}

/** The view of these entries. */
function partOf(entries: readonly Entry[], { indexOf }: Conversation): ContextPart {
  const { messages, sources } = foldEntries(entries)
  const pieces = sources.flatMap(({ pieces }) => pieces)
  const { size, kinds } = breakdown({ messages: pieces, size: estimateOf(pieces) })
  const items = sources.flatMap(({ uuids }) => uuids).flatMap((uuid) => indexOf(uuid) ?? [])
  return { messages: messages.length, tokens: size.tokens, kinds, items: [...new Set(items)] }
}

function estimateOf(pieces: ReturnType<typeof foldEntries>['messages']) {
  const model = pieces.findLast((piece) => piece.model !== undefined)?.model
  const weigher = createWeigher({ model })
  const tokens = Math.round(pieces.reduce((sum, piece) => sum + weigher.message(piece), 0))
  return { tokens, reported: 0, estimated: tokens, source: 'estimate' } as const
}

function textsOf(entries: readonly Entry[], { indexOf }: Conversation) {
  const pieces = foldEntries(entries).sources.flatMap(({ pieces }) => pieces)
  return pieces.flatMap((piece) => {
    const item = piece.uuid === undefined ? undefined : indexOf(piece.uuid)
    return item === undefined ? [] : [{ item, text: sourceText(piece) }]
  })
}

/** The client's text in the new context besides the summary. */
function restoredIn(entries: readonly Entry[], { indexOf }: Conversation): readonly Restored[] {
  const weigher = createWeigher({})
  return foldEntries(entries).sources.flatMap(({ pieces }) =>
    pieces.flatMap((piece): readonly Restored[] => {
      const item = piece.uuid === undefined ? undefined : indexOf(piece.uuid)
      if (item === undefined || piece.origin !== 'attachment') return []
      const title = titleOf(entries.find(({ record }) => record.uuid === piece.uuid))
      const tokens = Math.round(weigher.message(piece))
      return [{ item, kind: piece.attachment ?? 'context', title: title ?? firstLine(textOf(piece.content)), tokens }]
    }),
  )
}

function titleOf(entry: Entry | undefined): string | undefined {
  const attachment = objectAt(entry?.record, 'attachment')
  return stringAt(attachment, 'displayPath') ?? stringAt(attachment, 'filename') ?? stringAt(attachment, 'title')
}

function firstLine(text: string): string {
  const line = text.split('\n').find((part) => contentWords(part).length > 0) ?? ''
  return line.trim().slice(0, 120)
}

type PriceInput = {
  readonly row: CompactionRow
  readonly entries: readonly Entry[]
  readonly moment: Moment
  readonly scan: Scan
}

/** Everlong records the cost of its own compactions; others are estimated from the sizes, like in `everlong inspect --stats`. */
function priceOf({ row, entries, moment, scan }: PriceInput): CompactionPrice {
  const own = objectAt(objectAt(entries[moment.start]?.record, 'everlong'), 'compaction')
  const recorded = numberAt(own, 'cost')
  const estimate = compactionEstimates(scan.epochs, scan.answers).find(({ compaction }) => compaction === row.number)
  const estimated = estimate && costOf(estimate.tokens, estimate.model)
  const next = entries.slice(moment.end).find(({ record }) => record.isSidechain !== true && readAnswerLine(record))
  const answer = next && readAnswerLine(next.record)
  const written = answer && { ...answer.usage, input: 0, output: 0, cacheRead: 0 }
  return {
    model: stringAt(own, 'model') ?? estimate?.model ?? null,
    asking: recorded ?? estimated ?? null,
    isEstimated: recorded === undefined,
    rewriting: (written && answer && costOf(written, answer.model)) ?? null,
  }
}
