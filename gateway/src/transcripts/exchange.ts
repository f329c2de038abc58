// Writes one exchange: its conversation, its rows in the books, its messages in the transcript. All of it can be repeated after a
// failure, because rows and records have their own ids and are stored once.
import { setImmediate as requestsFirst } from 'node:timers/promises'
import { costOf, isToolResult, type JsonObject } from 'everlong/internal'
import { billedCounts, type CacheOutcome, type Usage } from 'everlong/internal/wire'
import { type Alone, type AloneState, aloneOf } from '../books/alone.ts'
import type { Books } from '../books/book.ts'
import { watchCache } from '../books/cache-watch.ts'
import { rowOf } from '../books/rows.ts'
import type { Config } from '../config/schema.ts'
import type { Answered, Asked } from '../dialects/dialect.ts'
import { eventsOf } from '../dialects/events.ts'
import { overheadOf, sizeOf } from '../dialects/size.ts'
import { bodyObject, decoded } from '../http/body.ts'
import type { Forwarded } from '../http/forward.ts'
import { clientIdsOf } from '../identify/client-ids.ts'
import type { Conversation, Identify } from '../identify/identify.ts'
import { userOf } from '../identify/user.ts'
import type { KeepAlive } from '../keep-alive/keep-alive.ts'
import { type CompactionRequest, compactionIn, conversationBefore } from '../levels/compaction-request.ts'
import type { Log } from '../log.ts'
import type { Notes } from '../state/state.ts'
import type { Passed } from './passed.ts'
import type { Transcripts } from './transcripts.ts'

export type RecordParts = {
  readonly config: Pick<Config, 'limits'>
  readonly identify: Identify
  readonly transcripts: Transcripts
  readonly books: Books
  readonly notes: Notes
  readonly log: Log
  readonly keepAlive: Pick<KeepAlive, 'seen'>
}

/**
 * Throws a StoreError if something cannot be stored. Requests share the thread with this, and reading a megabyte takes
 * milliseconds, so they go first before each step.
 */
export async function writeExchange(passed: Passed, parts: RecordParts): Promise<void> {
  await requestsFirst()
  const read = await readExchange(passed, parts)
  const { status, bytes } = passed.forwarded
  const isAnswered = status >= 200 && status <= 299
  const notRecorded = (why: string) => parts.log('warn', 'not-recorded', { tenant: passed.caller.tenant, why })
  if (!read) {
    if (isAnswered) notRecorded('The request has a shape or an encoding that is not known.')
    return
  }
  if (isAnswered && !bytes && !passed.isHandover) {
    notRecorded('The answer is larger than limits.maxStoredAnswerBytes. Only its request is stored.')
  }
  passed.trace.used({ model: read.asked.model, usage: read.usage })
  await requestsFirst()
  await book(passed, read, { ...parts, isAnswered })
  await requestsFirst()
  // A refused client has said nothing yet.
  if (isAnswered) await write(passed, read, parts)
  const { conversation, asked, user, usage, compaction } = read
  const { session, parent } = conversation
  const isCompaction = compaction !== undefined
  await parts.keepAlive.seen({ passed, session, parent, user, model: asked.model, usage, isCompaction })
}

type Booking = Pick<RecordParts, 'books' | 'notes'> & { readonly isAnswered: boolean }

async function book(passed: Passed, read: Read, { books, notes, isAnswered }: Booking): Promise<void> {
  const { asked, conversation, usage, raw, user } = read
  const { tenant, session } = conversation
  const { id, isHandover, time, own } = passed
  const watched =
    isAnswered && usage && !isHandover
      ? await watchCache(notes, { tenant, session, asked, usage, raw, time })
      : undefined
  const billed = isHandover ? noUsage : usage
  const told = { model: asked.model, session, user }
  const alone = isAnswered ? await aloneIn(passed, { ...read, cache: watched?.cache }, notes) : undefined
  await books.add(rowOf(passed, { ...told, id, kind: 'client', usage: billed, watched, alone }))
  for (const [at, answer] of own.entries()) {
    await books.add(rowOf(passed, { ...told, id: `${id}-${at}`, kind: 'own', usage: answer.usage, watched: undefined }))
  }
  await watched?.remember()
  if (alone?.state) await notes.put(tenant, session, 'alone', JSON.stringify(alone.state))
}

type AloneInput = Pick<Read, 'asked' | 'conversation' | 'usage'> & { readonly cache: CacheOutcome | undefined }

/** The cost without the gateway. Undefined if the gateway changed nothing. */
async function aloneIn(
  { level, isHandover, own, sentTokens }: Passed,
  { asked, conversation, usage, cache }: AloneInput,
  notes: Notes,
): Promise<(Pick<Alone, 'tokens' | 'cost'> & { readonly state?: AloneState }) | undefined> {
  const { model, messages } = asked
  const [first] = own
  // The client would have asked the same model for a summary of the same conversation.
  if (isHandover) return first && { tokens: 0, cost: costOf(billedCounts(first.usage), model) }
  if (level !== 'manage' || !usage) return undefined
  const note = await notes.get(conversation.tenant, conversation.session, 'alone')
  const before: AloneState | undefined = note === undefined ? undefined : JSON.parse(note)
  const tokens = sizeOf(asked)
  return aloneOf({
    ...{ before, usage: billedCounts(usage), cache, model, summary: own.at(-1)?.usage.output },
    ...{ asked: tokens, sent: sentTokens ?? tokens, overhead: () => overheadOf(asked) },
    isNewTurn: messages.at(-1)?.content.some(isToolResult) === false,
  })
}

const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

type Read = {
  readonly asked: Asked
  readonly user: string | undefined
  /** Set for the client's compaction, whose request and answer are not part of the conversation. */
  readonly compaction: CompactionRequest | undefined
  readonly conversation: Conversation
  readonly answer: Answered | undefined
  readonly usage: Answered['usage'] | undefined
  readonly raw: JsonObject
}

async function readExchange(passed: Passed, { config, identify }: RecordParts): Promise<Read | undefined> {
  const { caller, dialect, forwarded, bytes, headers } = passed
  const { limits } = config
  const body = await bodyObject(bytes, { encoding: headers['content-encoding'], maxBytes: limits.maxBodyBytes })
  await requestsFirst()
  const asked = body && dialect.readRequest(body)
  if (!asked) return undefined
  const events = await eventsIn(forwarded, limits.maxStoredAnswerBytes)
  const answer = dialect.readAnswer(events)
  const ids = clientIdsOf(headers, body)
  const compaction = compactionIn(asked, headers)
  const said = compaction ? conversationBefore(asked, compaction) : asked
  await requestsFirst()
  const conversation =
    passed.conversation ?? (await identify.conversationOf({ tenant: caller.tenant, ids, asked: said }))
  return {
    ...{ asked, compaction, conversation, answer, user: userOf(headers, body) },
    usage: answer?.usage ?? dialect.readUsage(events),
    raw: answer?.raw ?? {},
  }
}

async function write(
  { caller, upstream, dialect, isHandover }: Passed,
  { asked, conversation, answer, compaction, user }: Read,
  { transcripts, identify }: RecordParts,
): Promise<void> {
  const { forkedFrom } = conversation
  const fork = forkedFrom === undefined ? {} : { forkedFrom }
  const facts = { upstream, api: dialect.name, key: caller.key, ...fork }
  const { digest } = await transcripts.write({
    ...{ conversation, facts, user },
    ...(compaction
      ? {
          asked: conversationBefore(asked, compaction),
          answer: undefined,
          compaction: { trigger: compaction.trigger, by: isHandover ? 'everlong' : 'client' },
        }
      : { asked, answer, compaction: undefined }),
  })
  await identify.ended(conversation, answer && !compaction ? digest : (conversation.chain.at(-1) ?? ''))
}

async function eventsIn({ bytes, headers }: Forwarded, maxBytes: number): Promise<readonly unknown[]> {
  const plain = bytes && (await decoded(bytes, headers['content-encoding'], maxBytes))
  return plain ? eventsOf(plain, headers['content-type']) : []
}
