// What a compaction starts from: the facts that earlier ones carried, and how it relates to the one before. Read off the
// view and its records.
import type { Ledger } from '../ledger/facts.ts'
import { fromJson } from '../ledger/json.ts'
import { createLedger } from '../ledger/ledger.ts'
import { arrayAt, defined, isObject, type JsonObject, stringAt } from '../message/json.ts'
import { groupBy } from '../message/maps.ts'
import { blocksOf, isRequest, isText, isToolResult, lengthOf, textOf, type ViewMessage } from '../message/message.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { ChainInfo, Tried } from '../ports/outcome.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { isContinuation } from '../prompts/continuation.ts'
import { doNow, type Work } from '../text/slices.ts'
import { rememberedTurns, type TurnSize, turnSizes } from '../tokens/predict.ts'
import { boundaryBefore, readCompaction } from '../transcript/format/compaction-records.ts'
import type { QueuedWords } from '../transcript/format/messages.ts'
import type { CompactionJob, SizedJob } from './job.ts'
import { readPage } from './page/read-page.ts'
import { type Planned, piecesOf } from './plan.ts'

export type History = {
  readonly chain: ChainInfo
  /** Tokens that earlier compactions took out of the context. */
  readonly dropped: number
  readonly discoveredTools: readonly string[]
  /** The sizes at the end of the turns so far. */
  readonly turns: readonly TurnSize[]
  /** Facts from before the view. */
  readonly carried: Ledger
  /** Messages before the last summary that the carried facts include: read again, they would seem the newest. */
  readonly known: ReadonlySet<string | undefined>
  /** The text of the first summary in the view. */
  readonly summary: string | undefined
}

/** One compaction on its way. */
export type CompactionRun = {
  readonly job: SizedJob
  readonly plan: Planned
  readonly history: History
  readonly ports: CompactionPorts
  readonly signal: AbortSignalPort | undefined
  readonly started: number
  readonly tried: Tried[]
  readonly notices: string[]
  /** By all requests together, and how many there were. */
  usage: TokenCounts
  attempts: number
  /** Of the request that shared the cache. */
  hitRate?: number | undefined
  /** The window that a refusal named, if it named one. */
  limit?: number
}

export function historyOf({ view, recordOf, threshold, carried }: CompactionJob): History {
  const pieces = piecesOf(view)
  const last = pieces.findLastIndex(({ origin }) => origin === 'summary')
  const earlier = readCompaction(boundaryBefore(pieces[last], recordOf))
  const since = pieces.slice(last + 1)
  const answers = since.filter(({ origin }) => origin === 'assistant').map(({ messageId, uuid }) => messageId ?? uuid)
  const first = pieces.find(({ origin }) => origin === 'summary')
  const hasKept = carried !== undefined || earlier.ledgerHasKept
  return {
    chain: {
      isRecompaction: last >= 0 && !since.some(({ origin }) => isRequest(origin)),
      ...defined({
        turnsSincePrevious: last < 0 ? undefined : new Set(answers).size,
        previousTurnId: earlier.turnId,
      }),
      threshold,
      source: 'turn',
    },
    dropped: earlier.cumulativeDroppedTokens,
    discoveredTools: [...new Set([...earlier.discoveredTools, ...discoveredTools(pieces)])],
    turns: [
      ...(earlier.turns ?? []),
      ...turnSizes(view.messages.filter(({ uuid = '' }) => !earlier.kept.includes(uuid))),
    ].slice(-rememberedTurns),
    carried: carried?.() ?? (earlier.ledger === undefined ? quotedIn(pieces) : fromJson(earlier.ledger)),
    known: new Set(hasKept ? pieces.slice(0, Math.max(0, last)).map(({ uuid }) => uuid) : []),
    summary: first && textOf(first.content),
  }
}

/** A summary that came without the record of its compaction still quotes the user. */
function quotedIn(pieces: readonly ViewMessage[]): Ledger {
  const texts = pieces.filter(({ origin }) => origin === 'summary').map(({ content }) => blocksOf(content).find(isText))
  return readPage(texts.findLast((block) => block && isContinuation(block.text))?.text ?? '')
}

type Queued = Pick<CompactionJob, 'recordOf' | 'queued'>

/** Everything that the ledger of these messages is read from, as data. */
export type LedgerInput = Pick<History, 'carried' | 'known'> & {
  readonly queued: readonly QueuedWords[]
  readonly messages: readonly ViewMessage[]
  /** The record of each message, where there is one. */
  readonly records: readonly (JsonObject | undefined)[]
}

export function ledgerInput(
  { carried, known }: History,
  { recordOf, queued = [] }: Queued,
  messages: readonly ViewMessage[],
): LedgerInput {
  const records = messages.map(({ uuid }) => (uuid === undefined || known.has(uuid) ? undefined : recordOf?.(uuid)))
  return { carried, known, queued, messages, records }
}

/** Carried facts, with those of these messages. Queued text is added where it was typed, or at the end. */
export function ledgerWith(history: History, job: Queued, messages: readonly ViewMessage[]): Ledger {
  return doNow(readingLedger(ledgerInput(history, job, messages)))
}

export function* readingLedger({ carried, known: read, queued, messages, records }: LedgerInput): Work<Ledger> {
  const book = createLedger(carried)
  const known = new Set(messages.map(({ uuid }) => uuid))
  const waiting = groupBy(queued, ({ after = '' }) => (known.has(after) ? after : ''))
  const addQueued = (after: string) => {
    for (const { text } of waiting.get(after) ?? []) book.addQueued(text)
  }
  for (const [at, message] of messages.entries()) {
    const { uuid } = message
    if (uuid === undefined || !read.has(uuid)) book.add(message, records[at])
    if (uuid !== undefined) addQueued(uuid)
    yield lengthOf(message.content)
  }
  addQueued('')
  return book.ledger()
}

/** The deferred tools that a conversation has loaded: a search for tools answers with references to them. */
export function discoveredTools(messages: readonly ViewMessage[]): readonly string[] {
  const results = messages.flatMap(({ content }) => blocksOf(content).filter(isToolResult))
  const parts = results.flatMap((result) => arrayAt(result, 'content').filter(isObject))
  const references = parts.filter(({ type }) => type === 'tool_reference')
  return [...new Set(references.flatMap((part) => stringAt(part, 'tool_name') ?? []))]
}
