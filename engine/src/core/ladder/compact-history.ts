// What a compaction goes on from: the facts that earlier ones carried, how it stands to the one before, and the model of
// the conversation. Read off the view and the records behind it.
import { emptyLedger, type Ledger } from '../ledger/facts.ts'
import { fromJson } from '../ledger/json.ts'
import { createLedger } from '../ledger/ledger.ts'
import { stringAt } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import type { ChainInfo } from '../ports/events.ts'
import { discoveredTools } from '../restore/discovered-tools.ts'
import { modelOf } from '../tokens/context-size.ts'
import { readCompaction } from '../transcript/compaction-records.ts'
import type { CompactionInput } from './compact-input.ts'
import { piecesOf } from './compact-parts.ts'

export type History = {
  /** Of the newest answer. */
  readonly model: string | undefined
  /** Whether the view begins with what an earlier compaction left. */
  readonly hasEarlier: boolean
  /** Human messages since then. */
  readonly turns: number
  readonly previousTurnId: string | undefined
  /** Tokens that earlier compactions took out of the context. */
  readonly dropped: number
  readonly discoveredTools: readonly string[]
  /** The facts that were known, and those of these messages. */
  readonly ledgerWith: (messages: readonly ViewMessage[]) => Ledger
}

export function historyOf(input: CompactionInput): History {
  const { view, recordOf } = input
  const pieces = piecesOf(view)
  const last = pieces.findLastIndex(({ origin }) => origin === 'summary')
  const earlier = readCompaction(boundaryBefore(pieces[last], recordOf))
  const tools = new Set([...earlier.discoveredTools, ...discoveredTools(pieces), ...(input.discoveredTools ?? [])])
  return {
    model: modelOf(view.messages),
    hasEarlier: last >= 0,
    turns: pieces.slice(last + 1).filter(({ origin }) => isRequest(origin)).length,
    previousTurnId: earlier.turnId,
    dropped: earlier.cumulativeDroppedTokens,
    discoveredTools: [...tools],
    ledgerWith: (messages) => {
      if (input.ledger) return input.ledger
      const book = createLedger(earlier.ledger === undefined ? emptyLedger : fromJson(earlier.ledger))
      for (const message of messages)
        book.add(message, message.uuid === undefined ? undefined : recordOf?.(message.uuid))
      return book.ledger()
    },
  }
}

/** A summary hangs on its boundary; the last word of a compaction on what it restored, so the walk may take a while. */
function boundaryBefore(summary: ViewMessage | undefined, recordOf: CompactionInput['recordOf']) {
  let uuid = summary?.uuid
  for (let steps = 0; uuid !== undefined && recordOf && steps < 200; steps++) {
    const record = recordOf(uuid)
    if (record?.subtype === 'compact_boundary') return record
    uuid = stringAt(record, 'parentUuid')
  }
  return undefined
}

export function chainOf(input: CompactionInput, history: History): ChainInfo {
  const { hasEarlier, turns, previousTurnId } = history
  return {
    isRecompaction: hasEarlier && turns === 0,
    ...(hasEarlier ? { turnsSincePrevious: turns } : {}),
    ...(previousTurnId === undefined ? {} : { previousTurnId }),
    threshold: input.threshold,
    source: input.source ?? 'turn',
  }
}
