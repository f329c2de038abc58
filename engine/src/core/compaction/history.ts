// The starting point of a compaction: facts carried over from earlier ones, and its relation to the previous one. Read from the
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
  /** Tokens that earlier compactions removed from the context. */
  readonly dropped: number
  readonly discoveredTools: readonly string[]
  /** The sizes at the end of all turns so far. */
  readonly turns: readonly TurnSize[]
  /** Facts from before the view. */
  readonly carried: Ledger
  /** Messages before the last summary that the carried facts already include. If they were read again, they would seem newest. */
  readonly known: ReadonlySet<string | undefined>
  /** The text of the first summary in the view. */
  readonly summary: string | undefined
}

/** A compaction in progress. */
export type CompactionRun = {
  readonly job: SizedJob
  readonly plan: Planned
  readonly history: History
  readonly ports: CompactionPorts
  readonly signal: AbortSignalPort | undefined
  readonly started: number
  readonly tried: Tried[]
  readonly notices: string[]
  /** Usage of all requests, and their number. */
  usage: TokenCounts
  attempts: number
  /** Hit rate of the request that shared the cache. */
  hitRate?: number | undefined
  /** The window that a refusal named. */
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

/** A summary without the record of its compaction still quotes the user. */
function quotedIn(pieces: readonly ViewMessage[]): Ledger {
  const texts = pieces.filter(({ origin }) => origin === 'summary').map(({ content }) => blocksOf(content).find(isText))
  return readPage(texts.findLast((block) => block && isContinuation(block.text))?.text ?? '')
}

type Queued = Pick<CompactionJob, 'recordOf' | 'queued'>

/** All data from which the ledger of these messages is read. */
export type LedgerInput = Pick<History, 'carried' | 'known'> & {
  readonly queued: readonly QueuedWords[]
  readonly messages: readonly ViewMessage[]
  /** The record of each message, if there is one. */
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

/** Carried facts plus those of these messages. Queued text is added where it was typed, or at the end. */
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

/** The deferred tools that a conversation has loaded. A search for tools answers with references to them. */
export function discoveredTools(messages: readonly ViewMessage[]): readonly string[] {
  const results = messages.flatMap(({ content }) => blocksOf(content).filter(isToolResult))
  const parts = results.flatMap((result) => arrayAt(result, 'content').filter(isObject))
  const references = parts.filter(({ type }) => type === 'tool_reference')
  return [...new Set(references.flatMap((part) => stringAt(part, 'tool_name') ?? []))]
}
