// What compactions lost: facts of a conversation that the current context contains neither word for word nor, as far as code can
// tell, in other words. In doubt a fact counts as kept, because a false alarm is worse than a missed loss.
import type { Ledger } from '../../ledger/facts.ts'
import { createLedger } from '../../ledger/ledger.ts'
import { objectAt, stringAt } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import type { Entry } from '../../transcript/format/entry.ts'
import { messageOf, queuedWords } from '../../transcript/format/messages.ts'
import { checkSummary } from '../check.ts'
import { type Candidate, candidatesIn, type KnownFacts, type LostFact, lostTypes } from './candidates.ts'
import { type Context, contextsOf } from './contexts.ts'

export type LostCompaction = {
  readonly number: number
  readonly uuid: string
  readonly line: number
  readonly trigger: string
  readonly time: string | undefined
  readonly isUndone: boolean
  /** False if the summary is encrypted or missing. */
  readonly isReadable: boolean
}

export type Lost = {
  readonly compactions: readonly LostCompaction[]
  readonly facts: readonly LostFact[]
  /** Claims of the current summary that the conversation before it does not support. */
  readonly unverified: readonly UnverifiedClaim[]
  /** The reason why some or all losses are unknown. */
  readonly unknown?: 'unreadable-summary' | 'other-language'
}

/**
 * A quotation that nobody said, an approval that nobody gave, a state that contradicts the last known one, a name that does not
 * occur.
 */
export type UnverifiedClaim = { readonly type: 'quote' | 'approval' | 'state' | 'name'; readonly text: string }

/** `entries` must be in the order of the file. */
export function lostIn(entries: readonly Entry[]): Lost {
  const contexts = contextsOf(entries)
  const current = contexts.at(-1)
  const compactions = contexts.flatMap(compactionOf)
  const nothing = { compactions, facts: [], unverified: [] }
  if (current === undefined || compactions.every(({ isUndone }) => isUndone)) return nothing
  if (!current.isReadable) return { ...nothing, unknown: 'unreadable-summary' }
  const known = factsOf(entries, contexts)
  const all = candidatesIn(known)
  const isComparable = current.isComparable(known.ledger.exchanges.map(({ text }) => text).join('\n'))
  const lost = all.filter((candidate) => isComparable || !candidate.isWords).flatMap(factFrom(contexts, known))
  const rank = ({ type }: LostFact) => lostTypes.indexOf(type)
  return {
    compactions,
    facts: lost.toSorted((a, b) => rank(a) - rank(b) || b.line - a.line),
    unverified: unverifiedIn(current, { before: contexts.at(-2), ledger: known.before.at(-1), ids: idsIn(entries) }),
    ...(isComparable ? {} : { unknown: 'other-language' }),
  }
}

/** Ids of the session and of those that it continues. Clients name their transcript file in a summary. */
function idsIn(entries: readonly Entry[]): readonly string[] {
  return [...new Set(entries.flatMap(({ record }) => stringAt(record, 'sessionId') ?? []))]
}

type SummaryCheck = {
  readonly before: Context | undefined
  readonly ledger: Ledger | undefined
  readonly ids: readonly string[]
}

/** Compares the summary with the context that it replaced. */
function unverifiedIn({ summary }: Context, { before, ledger, ids }: SummaryCheck): readonly UnverifiedClaim[] {
  if (summary === '' || before === undefined || ledger === undefined) return []
  const source: ViewMessage = { role: 'user', origin: 'human', content: [before.text(), ...ids].join('\n') }
  const found = checkSummary(summary, { messages: [source], ledger })
  const claims = (type: UnverifiedClaim['type'], texts: readonly string[]) => texts.map((text) => ({ type, text }))
  return [
    ...claims('approval', found.inferredApprovals),
    ...claims('quote', found.falseQuotes),
    ...claims('state', found.contradicted),
    ...claims('name', found.unsupported),
  ]
}

function compactionOf({ openedBy, isUndone, isReadable }: Context, number: number): readonly LostCompaction[] {
  if (openedBy === undefined) return []
  const { uuid, line, trigger, time } = openedBy
  return [{ number, uuid, line, trigger, time, isUndone, isReadable }]
}

/** Reads only messages that were in a context at its end. Rewound messages are not lost, because the user removed them. */
function factsOf(entries: readonly Entry[], contexts: readonly Context[]): KnownFacts {
  const seen = new Set(contexts.flatMap(({ uuids }) => [...uuids]))
  const boundaries = new Set(contexts.flatMap(({ openedBy, isUndone, start }) => (openedBy && !isUndone ? start : [])))
  const book = createLedger()
  const before: Ledger[] = []
  const read: Entry[] = []
  const byUuid = new Map<string, Entry>()
  for (const [at, entry] of entries.entries()) {
    const { record } = entry
    if (boundaries.has(at)) {
      for (const { text } of queuedWords(entries.slice(0, at))) book.addQueued(text)
      before.push(book.ledger())
    }
    const uuid = stringAt(record, 'uuid')
    const message = uuid !== undefined && seen.has(uuid) && !byUuid.has(uuid) ? messageOf(record) : undefined
    if (uuid === undefined || message === undefined || objectAt(record, 'attachment')?.isRestored === true) continue
    byUuid.set(uuid, entry)
    read.push(entry)
    book.add(message, record)
  }
  return {
    ledger: book.ledger(),
    before,
    entryAt: (time) => read[time],
    entryOf: (uuid) => byUuid.get(uuid),
  }
}

/** Returns the candidate as a fact if the current context lacks it. */
function factFrom(contexts: readonly Context[], { entryAt, entryOf }: KnownFacts) {
  return ({ last, uuid, isHeld, isWords: _, ...fact }: Candidate): readonly LostFact[] => {
    const entry = (uuid === undefined ? undefined : entryOf(uuid)) ?? entryAt(last)
    const id = stringAt(entry?.record, 'uuid')
    if (entry === undefined || id === undefined) return []
    const isIn = (context: Context) => !context.isReadable || context.uuids.has(id) || isHeld(context)
    const held = contexts.findLastIndex(isIn)
    if (held < 0 || held === contexts.length - 1) return []
    const time = stringAt(entry.record, 'timestamp')
    const place = { uuid: id, line: entry.position.line, ...(time === undefined ? {} : { time }) }
    return [{ ...fact, ...place, compaction: held + 1 }]
  }
}
