// The compactions that a transcript records: what the model had seen before each, what was left, what it wrote after.
import type { Block, Entry } from 'everlong'
import { messagesOf, readBoundary, textOf, type ViewMessage } from 'everlong/internal'
import { forEachEntry } from 'everlong/internal/node'

export type Case = {
  readonly name: string
  /** The transcript, and the entry before which it is compacted. */
  readonly path: string
  readonly at: string
  /** Messages before the previous compaction: no question is about them, but a contender may use them. */
  readonly earlier: readonly Entry[]
  /** The model's input since the previous compaction, including its summary. */
  readonly before: readonly Entry[]
  /** Summary, kept messages and restored attachments. */
  readonly left: readonly Entry[]
  /** What the assistant wrote afterwards, until the next compaction. */
  readonly written: string
}

export function casesOf(path: string, name: string): readonly Case[] {
  const { entries, boundaries } = sessionOf(path)
  return boundaries.map((at, index) => {
    const after = entries.slice(at + 1, boundaries[index + 1] ?? entries.length)
    const kept = keptOf(entries.slice(boundaries[index - 1] ?? 0, at), entries[at])
    const time = timeOf(entries[at])
    const isNew = (entry: Entry) =>
      entry.record.type === 'assistant' && (Number.isNaN(timeOf(entry)) || timeOf(entry) >= time) && !kept.has(entry)
    const first = after.findIndex(isNew)
    return {
      name: `${name}#${index + 1}`,
      path,
      at: String(entries[at]?.record.uuid),
      earlier: entries.slice(0, (boundaries[index - 1] ?? -1) + 1),
      before: [...entries.slice((boundaries[index - 1] ?? -1) + 1, at), ...keptAfter(after, entries[at])],
      left: [...kept, ...(first < 0 ? after : after.slice(0, first))],
      written: messagesOf(after.filter(isNew)).map(writtenIn).join('\n'),
    }
  })
}

/** How many answers after a cut are asked about, and how many entries must come before it. */
const answersAfter = 60
const minBefore = 60

/**
 * Points in a session where no compaction was recorded, spread evenly, as if there had been one. There is no recorded
 * context to compare with.
 */
export function cutsOf(
  path: string,
  { name, count }: { readonly name: string; readonly count: number },
): readonly Case[] {
  const { entries, boundaries } = sessionOf(path)
  const places = Array.from({ length: count }, (_, nth) => Math.floor((entries.length * (nth + 1)) / (count + 1)))
  return places.flatMap((place, nth): readonly Case[] => {
    const at = entries.findIndex((entry, index) => index >= place && entry.record.type === 'assistant')
    const start = (boundaries.findLast((boundary) => boundary < at) ?? -1) + 1
    if (at - start < minBefore) return []
    const end = boundaries.find((boundary) => boundary >= at) ?? entries.length
    const answers = entries.slice(at, end).filter((entry) => entry.record.type === 'assistant')
    return [
      {
        name: `${name}@${nth + 1}`,
        path,
        at: String(entries[at]?.record.uuid),
        earlier: entries.slice(0, start),
        before: entries.slice(start, at),
        left: [],
        written: messagesOf(answers.slice(0, answersAfter)).map(writtenIn).join('\n'),
      },
    ]
  })
}

type Session = { readonly entries: readonly Entry[]; readonly boundaries: readonly number[] }

/** The entries of the main conversation without duplicates, and the positions of its compactions. */
function sessionOf(path: string): Session {
  const entries: Entry[] = []
  const seen = new Set<string>()
  forEachEntry(path, (entry) => {
    const { uuid } = entry.record
    if (entry.record.isSidechain === true || (typeof uuid === 'string' && seen.has(uuid))) return
    if (typeof uuid === 'string') seen.add(uuid)
    entries.push(entry)
  })
  return { entries, boundaries: entries.flatMap((entry, at) => (readBoundary(entry.record) ? [at] : [])) }
}

function timeOf(entry: Entry | undefined): number {
  return Date.parse(String(entry?.record.timestamp ?? ''))
}

function keptOf(before: readonly Entry[], boundary: Entry | undefined): ReadonlySet<Entry> {
  const kept = boundary && readBoundary(boundary.record)?.kept
  if (kept?.type === 'listed') {
    const uuids = new Set(kept.uuids)
    return new Set(before.filter(({ record }) => uuids.has(String(record.uuid))))
  }
  if (kept?.type !== 'segment') return new Set()
  const head = before.findIndex(({ record }) => record.uuid === kept.head)
  const tail = before.findIndex(({ record }) => record.uuid === kept.tail)
  return new Set(head < 0 || tail < head ? [] : before.slice(head, tail + 1))
}

/** Some clients write kept messages again after the summary, and only there; the model had seen them anyway. */
function keptAfter(after: readonly Entry[], boundary: Entry | undefined): readonly Entry[] {
  const kept = boundary && readBoundary(boundary.record)?.kept
  if (kept?.type !== 'listed') return []
  const uuids = new Set(kept.uuids)
  return after.filter(({ record }) => uuids.has(String(record.uuid)))
}

/** The assistant's own text and tool inputs, without its thinking. */
export function writtenIn(message: ViewMessage): string {
  if (typeof message.content === 'string') return message.content
  return message.content.map((block) => (block.type === 'tool_use' ? stringsIn(block.input) : textIn(block))).join('\n')
}

function textIn(block: Block): string {
  return block.type === 'thinking' ? '' : textOf([block])
}

/** The strings and numbers of a value as they read, without JSON's escapes. */
function stringsIn(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(stringsIn).join('\n')
  return typeof value === 'object' && value !== null ? Object.values(value).map(stringsIn).join('\n') : ''
}

/** All text that a message shows to the model. */
export function shownIn(message: ViewMessage): string {
  return message.role === 'assistant' ? writtenIn(message) : textOf(message.content)
}
