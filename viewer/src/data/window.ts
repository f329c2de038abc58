// The context over time. At each answer the total is what the provider reported; the bands are estimated from the messages that the
// answer was given, and what they leave of the total is the system prompt and the tools.
import type { Entry } from 'everlong'
import {
  createFold,
  type Fold,
  messageOf,
  readAnswerLine,
  readBoundary,
  readEdit,
  type ViewMessage,
} from 'everlong/internal'
import { bookMessage, contextTokens, type Kind, modelOf, scaled, type Transcript } from 'everlong/internal/compaction'
import { type Band, bands, type WindowData } from './api.ts'
import { createMissBook } from './cache-misses.ts'
import { type Conversation, timeOf } from './conversation.ts'

const bandOf: Readonly<Record<Kind, Band>> = {
  'human-messages': 'user',
  'assistant-text': 'assistant',
  'tool-requests': 'assistant',
  thinking: 'thinking',
  'tool-results': 'results',
  images: 'results',
  attachments: 'files',
  'injected-text': 'files',
  'memory-files': 'files',
  summaries: 'summaries',
  'system-prompt': 'system',
  'tool-definitions': 'system',
  other: 'assistant',
}

export function windowOverTime(
  transcript: Pick<Transcript, 'view' | 'entries'>,
  conversation: Conversation,
): WindowData {
  const meter = createMeter(modelOf(transcript.view.messages))
  const misses = createMissBook()
  const points = emptyPoints()
  const newest = new Map<string, number>()
  let next = 0
  for (const entry of transcript.entries) {
    const item = next
    if (conversation.entry(item) !== entry) {
      meter.pass(entry)
      continue
    }
    next++
    meter.add(entry)
    if (readBoundary(entry.record) || readEdit(entry.record)) misses.changed()
    const answer = readAnswerLine(entry.record)
    const total = answer ? contextTokens(answer.usage) : 0
    if (!answer || total === 0) continue
    // An answer may be stored as several lines, and the last one counts.
    const known = newest.get(answer.messageId)
    const point = known ?? points.items.length
    newest.set(answer.messageId, point)
    points.items[point] = item
    points.times[point] = timeOf(entry.record)
    points.totals[point] = Math.max(total, known === undefined ? 0 : (points.totals[point] ?? 0))
    const { shares, cleared } = meter.read(points.totals[point] ?? total)
    for (const band of bands) points.bands[band][point] = shares[band]
    points.cleared[point] = cleared
    if (known === undefined) misses.add({ point, answer, time: points.times[point] ?? null, record: entry.record })
  }
  return { ...points, ...misses.found() }
}

function emptyPoints() {
  return {
    items: [] as number[],
    times: [] as (number | null)[],
    totals: [] as number[],
    bands: Object.fromEntries(bands.map((band) => [band, [] as number[]])) as Record<Band, number[]>,
    cleared: [] as number[],
  }
}

type Shares = Record<Band, number>

const noShares = (): Shares => Object.fromEntries(bands.map((band) => [band, 0])) as Shares

/**
 * What the context consists of at each entry. Messages are added up as they come. The fold is asked only after a change of
 * what came before: a compaction, an edit, or a message that continues from an earlier one.
 */
function createMeter(model: string | undefined) {
  const fold = createFold()
  const measured = new WeakMap<ViewMessage, Shares>()
  const toolNames = new Map<string, string>()
  let sums = noShares()
  let cleared = 0
  let isStale = false
  let recent = new Set<unknown>()
  let answerId: unknown
  const sharesOf = (message: ViewMessage) => {
    const known = measured.get(message)
    if (known) return known
    const shares = noShares()
    bookMessage(message, {
      how: { model },
      toolNames,
      book: (kind, measure) => {
        shares[bandOf[kind]] += scaled(measure, { model })
      },
    })
    measured.set(message, shares)
    return shares
  }
  return {
    /** An entry that no model sees. The next entry continues from the previous one. */
    pass: ({ record: { uuid, parentUuid } }: Entry) => {
      if (recent.has(parentUuid)) recent.add(uuid)
    },
    add: (entry: Entry) => {
      fold.add(entry)
      const { record } = entry
      const message = messageOf(record)
      const isJump = record.parentUuid != null && recent.size > 0 && !recent.has(record.parentUuid)
      if (isJump || readBoundary(record) || readEdit(record)) isStale = true
      if (message?.role === 'assistant' && message.messageId !== answerId) {
        answerId = message.messageId
        recent = new Set([record.parentUuid])
      }
      if (typeof record.uuid === 'string') recent.add(record.uuid)
      if (message && !isStale) addTo(sums, sharesOf(message))
    },
    read: (total: number) => {
      if (isStale) {
        const now = sumOfView(fold, sharesOf)
        sums = now.sums
        cleared = now.cleared
        isStale = false
      }
      return { shares: scaledTo(total, sums), cleared }
    },
  }
}

function addTo(sums: Shares, more: Shares): void {
  for (const band of bands) sums[band] += more[band]
}

function totalOf(shares: Shares): number {
  return bands.reduce((sum, band) => sum + shares[band], 0)
}

/** The difference to the originals, which edits removed. */
function sumOfView(fold: Fold, sharesOf: (message: ViewMessage) => Shares) {
  const sums = noShares()
  let cleared = 0
  for (const { pieces, uuids, edits } of fold.view().sources) {
    const before = totalOf(sums)
    for (const piece of pieces) addTo(sums, sharesOf(piece))
    if (edits.length === 0) continue
    const originals = uuids.flatMap((uuid) => messageOf(fold.entry(uuid)?.record ?? {}) ?? [])
    const whole = originals.reduce((sum, original) => sum + totalOf(sharesOf(original)), 0)
    cleared += Math.max(0, Math.round(whole - (totalOf(sums) - before)))
  }
  return { sums, cleared }
}

/** Like `everlong context`: if the estimate is higher than the report, the kinds are scaled down to it. */
function scaledTo(total: number, estimated: Shares): Shares {
  const scale = Math.min(1, total / Math.max(1, totalOf(estimated)))
  const shares = noShares()
  let sum = 0
  for (const band of bands) {
    shares[band] = Math.floor(estimated[band] * scale)
    sum += shares[band]
  }
  shares.system = Math.max(0, shares.system + total - sum)
  return shares
}
