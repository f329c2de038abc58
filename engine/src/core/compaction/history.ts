// What a compaction goes on from: the facts that earlier ones carried, how it relates to the one before, and the model of
// the conversation. Read off the view and the records behind it.
import { emptyLedger, type Ledger } from '../ledger/facts.ts'
import { fromJson } from '../ledger/json.ts'
import { createLedger } from '../ledger/ledger.ts'
import { textOf } from '../message/block.ts'
import { stringAt } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import type { ChainInfo } from '../ports/events.ts'
import { discoveredTools } from '../restore/state-book.ts'
import { modelOf } from '../tokens/context-size.ts'
import { readCompaction } from '../transcript/format/compaction-records.ts'
import type { CompactionJob } from './job.ts'
import { piecesOf } from './plan.ts'

export type History = {
  /** Of the newest answer. */
  readonly model: string | undefined
  readonly chain: ChainInfo
  /** Tokens that earlier compactions took out of the context. */
  readonly dropped: number
  readonly discoveredTools: readonly string[]
  /** What was known before the view. */
  readonly carried: Ledger
  /** The text of the last summary in the view. */
  readonly summary: string | undefined
}

export function historyOf(job: CompactionJob): History {
  const { view, recordOf } = job
  const pieces = piecesOf(view)
  const last = pieces.findLastIndex(({ origin }) => origin === 'summary')
  const earlier = readCompaction(boundaryBefore(pieces[last], recordOf))
  const since = pieces.slice(last + 1)
  const answers = new Set(
    since.flatMap(({ origin, messageId, uuid }) => (origin === 'assistant' ? [messageId ?? uuid] : [])),
  )
  const first = pieces.find(({ origin }) => origin === 'summary')
  return {
    model: modelOf(view.messages),
    chain: {
      isRecompaction: last >= 0 && !since.some(({ origin }) => isRequest(origin)),
      ...(last >= 0 ? { turnsSincePrevious: answers.size } : {}),
      ...(earlier.turnId === undefined ? {} : { previousTurnId: earlier.turnId }),
      threshold: job.threshold,
      source: job.source ?? 'turn',
    },
    dropped: earlier.cumulativeDroppedTokens,
    discoveredTools: [
      ...new Set([...earlier.discoveredTools, ...discoveredTools(pieces), ...(job.discoveredTools ?? [])]),
    ],
    carried: job.carried ?? (earlier.ledger === undefined ? emptyLedger : fromJson(earlier.ledger)),
    summary: first && textOf(first.content),
  }
}

/** What was known before, and what these messages add to it. */
export function ledgerWith(
  { carried }: History,
  { recordOf, queued = [] }: Pick<CompactionJob, 'recordOf' | 'queued'>,
  messages: readonly ViewMessage[],
): Ledger {
  const book = createLedger(carried)
  const waiting = new Map<string | undefined, string[]>()
  for (const { after, text } of queued) waiting.set(after, [...(waiting.get(after) ?? []), text])
  const addQueued = (after: string | undefined) => {
    for (const text of waiting.get(after) ?? []) book.addQueued(text)
    waiting.delete(after)
  }
  for (const message of messages) {
    const { uuid } = message
    book.add(message, uuid === undefined ? undefined : recordOf?.(uuid))
    if (uuid !== undefined) addQueued(uuid)
  }
  for (const after of waiting.keys()) addQueued(after)
  return book.ledger()
}

/** A summary hangs on its boundary; the last word of a compaction on what it restored, so the walk may take a while. */
function boundaryBefore(summary: ViewMessage | undefined, recordOf: CompactionJob['recordOf']) {
  let uuid = summary?.uuid
  for (let steps = 0; uuid !== undefined && recordOf && steps < 200; steps++) {
    const record = recordOf(uuid)
    if (record?.subtype === 'compact_boundary') return record
    uuid = stringAt(record, 'parentUuid')
  }
  return undefined
}
