// Stores every conversation as a transcript. An exchange is written after its answer has ended, so that nobody waits for it. If
// it cannot be written, the next request of the conversation contains all of it again.
import type { JsonObject } from 'everlong/internal'
import type { StoredRecord } from 'everlong/stores'
import type { Answered, Asked } from '../dialects/dialect.ts'
import { nextLink } from '../identify/chain.ts'
import type { Conversation } from '../identify/identify.ts'
import type { Notes } from '../state/state.ts'
import { append, type Hold, type Holding, knowAll } from './held.ts'
import { answerRecord, boundaryRecord, type CompactedBy, messageRecord, type RecordFrame, recordId } from './records.ts'
import { isClientSummary } from './summaries.ts'

export type Exchange = {
  readonly conversation: Conversation
  /** The user, if the request names one. */
  readonly user: string | undefined
  readonly asked: Asked
  /** Undefined if the answer broke off. */
  readonly answer: Answered | undefined
  /** The client asked for a summary of the conversation and got one, so the next conversation may begin with it. */
  readonly compaction: CompactedBy | undefined
  /** Facts of the gateway about the request, for readers of the transcript. */
  readonly facts: JsonObject
}

export type Written = {
  /** The digest of the conversation with its answer. */
  readonly digest: string
}

export type Transcripts = {
  /** Throws a StoreError if it cannot be stored. */
  readonly write: (exchange: Exchange) => Promise<Written>
}

export type TranscriptParts = { readonly hold: Hold; readonly notes: Notes; readonly now: () => number }

export function createTranscripts({ hold, notes, now }: TranscriptParts): Transcripts {
  return {
    write: async (exchange) => {
      const { tenant, session, parent } = exchange.conversation
      const { user, compaction } = exchange
      // Noted first: a boundary without its author could not be corrected by a retry.
      if (compaction) await notes.put(tenant, session, 'compacted', JSON.stringify(compaction))
      return hold.use({ tenant, session, parent, user }, (holding) =>
        write(exchange, { holding, notes, time: new Date(now()).toISOString() }),
      )
    },
  }
}

type Writing = { readonly holding: Holding; readonly notes: Notes; readonly time: string }

async function write(exchange: Exchange, { holding, notes, time }: Writing): Promise<Written> {
  const { conversation, asked, answer, facts } = exchange
  const { chain, tenant, session, strictness, parent: main } = conversation
  if (!chain.some((digest) => holding.known.has(recordId(session, digest)))) await knowAll(holding)
  const frame = (id: string, parent: string | null): RecordFrame => ({
    id,
    parent,
    session,
    time,
    isSidechain: main !== undefined,
  })
  const start = firstUnknown(conversation, holding)
  const records: StoredRecord[] = []
  let parent = start === 0 ? null : recordId(session, chain[start - 1] ?? '')
  const fresh = asked.messages.slice(start)
  const isCompacted = start === 0 && holding.newest !== undefined && isClientSummary(asked.messages)
  if (isCompacted) {
    const boundary = recordId(session, `boundary ${chain.at(0)}`)
    const note = await notes.get(tenant, session, 'compacted')
    const compacted: CompactedBy = note === undefined ? { trigger: 'auto', by: 'client' } : JSON.parse(note)
    const told = { ...compacted, preTokens: undefined, after: holding.newest }
    records.push(boundaryRecord(frame(boundary, null), told))
    parent = boundary
  }
  for (const [at, message] of fresh.entries()) {
    const index = start + at
    const digest = chain[index] ?? ''
    const saysNothing = digest === (chain[index - 1] ?? '')
    const id = recordId(session, saysNothing ? `${digest} note ${index}` : digest)
    records.push(
      messageRecord(frame(id, parent), message, {
        model: asked.model,
        isSummary: isCompacted && index === chain.findIndex((one) => one !== ''),
      }),
    )
    parent = id
  }
  const last = chain.at(-1) ?? ''
  const digest = answer ? nextLink(last, { role: 'assistant', content: answer.content }, strictness) : last
  if (answer && digest !== last)
    records.push(answerRecord(frame(recordId(session, digest), parent), answer, { gateway: facts }))
  await append(holding, records)
  if (isCompacted) await notes.remove(tenant, session, 'compacted')
  return { digest }
}

/** The index after the last stored message. Notes after it count as new if anything is new. */
function firstUnknown({ chain, session }: Conversation, { known }: Holding): number {
  const last = chain.findLastIndex((digest) => digest !== '' && known.has(recordId(session, digest)))
  const digest = chain[last]
  return digest === undefined ? 0 : chain.indexOf(digest) + 1
}
