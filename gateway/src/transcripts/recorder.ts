// What happens to an exchange when it is over, in the background and in the order in which exchanges ended: it is written to its
// transcript and to the books. Nothing that goes wrong here reaches a client; it is logged, and the next request of the conversation
// brings everything again.
import type { JsonObject } from 'everlong/internal'
import type { Usage } from 'everlong/internal/wire'
import type { Books } from '../books/book.ts'
import { createCacheWatches, type Watched } from '../books/cache-watch.ts'
import { rowOf } from '../books/rows.ts'
import type { Config } from '../config/schema.ts'
import type { Answered, Asked } from '../dialects/dialect.ts'
import { eventsOf } from '../dialects/events.ts'
import { bodyObject, decoded } from '../http/body.ts'
import type { Forwarded } from '../http/forward.ts'
import { clientIdsOf } from '../identify/client-ids.ts'
import type { Conversation, Identify } from '../identify/identify.ts'
import { type CompactionRequest, compactionIn, conversationBefore } from '../levels/compaction-request.ts'
import type { Log } from '../log.ts'
import type { Passed } from './passed.ts'
import type { Transcripts } from './transcripts.ts'

export type Recorder = {
  readonly add: (passed: Passed) => void
  /** Exchanges that wait to be written. */
  readonly waiting: () => number
  /** Resolves when everything that was added is written or given up. */
  readonly settled: () => Promise<void>
}

export type RecorderParts = {
  readonly config: Config
  readonly identify: Identify
  readonly transcripts: Transcripts
  readonly books: Books
  readonly log: Log
}

export function createRecorder(parts: RecorderParts): Recorder {
  const watch = createCacheWatches(parts.books)
  let tail: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return {
    add: (passed) => {
      waiting++
      tail = tail
        .then(() => record(passed, { ...parts, watch }))
        .catch((error: unknown) => {
          const why = error instanceof Error ? error.message : String(error)
          parts.log('error', 'not-recorded', { tenant: passed.caller.tenant, why })
        })
        .finally(() => waiting--)
    },
    waiting: () => waiting,
    settled: async () => {
      await tail
    },
  }
}

type RecordParts = RecorderParts & { readonly watch: ReturnType<typeof createCacheWatches> }

async function record(passed: Passed, parts: RecordParts): Promise<void> {
  const read = await readExchange(passed, parts)
  if (!read) return
  const { asked, conversation, usage, raw } = read
  const isAnswered = passed.forwarded.status >= 200 && passed.forwarded.status <= 299
  let watched: Watched | undefined
  if (isAnswered && usage && !passed.isHandover) {
    const { tenant, session } = conversation
    watched = await parts.watch({ tenant, session, asked, usage, raw, time: passed.time })
  }
  const { session } = conversation
  const billed = passed.isHandover ? noUsage : usage
  await parts.books.add(rowOf(passed, { kind: 'client', model: asked.model, session, usage: billed, watched }))
  for (const answer of passed.own) {
    await parts.books.add(
      rowOf(passed, { kind: 'own', model: asked.model, session, usage: answer.usage, watched: undefined }),
    )
  }
  // Whoever was refused has said nothing yet.
  if (isAnswered) await write(passed, read, parts)
}

const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

type Read = {
  readonly asked: Asked
  /** If it is the client's compaction. Its request and its answer are no part of what was said. */
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
  const asked = body && dialect.readRequest(body)
  if (!asked) return undefined
  const events = await eventsIn(forwarded, limits.maxStoredAnswerBytes)
  const answer = dialect.readAnswer(events)
  const ids = clientIdsOf(headers, body)
  const compaction = compactionIn(asked, headers)
  const said = compaction ? conversationBefore(asked, compaction) : asked
  const conversation =
    passed.conversation ?? (await identify.conversationOf({ tenant: caller.tenant, ids, asked: said }))
  return {
    asked,
    compaction,
    conversation,
    answer,
    usage: answer?.usage ?? dialect.readUsage(events),
    raw: answer?.raw ?? {},
  }
}

async function write(
  { caller, upstream, dialect, isHandover }: Passed,
  { asked, conversation, answer, compaction }: Read,
  { transcripts, identify, log }: RecordParts,
): Promise<void> {
  const { tenant, session, forkedFrom } = conversation
  const fork = forkedFrom === undefined ? {} : { forkedFrom }
  const facts = { upstream, api: dialect.name, key: caller.key, ...fork }
  const written = await transcripts.write({
    ...{ conversation, facts },
    ...(compaction
      ? {
          asked: conversationBefore(asked, compaction),
          answer: undefined,
          compaction: { trigger: compaction.trigger, by: isHandover ? 'everlong' : 'client' },
        }
      : { asked, answer, compaction: undefined }),
  })
  if (written.type === 'not-stored') {
    log('error', 'not-recorded', { tenant, session, why: written.why })
    return
  }
  await identify.ended(conversation, conversation.chain.at(-1) ?? '')
  if (answer && !compaction) await identify.ended(conversation, written.digest)
}

async function eventsIn({ bytes, headers }: Forwarded, maxBytes: number): Promise<readonly unknown[]> {
  const plain = bytes && (await decoded(bytes, headers['content-encoding'], maxBytes))
  return plain ? eventsOf(plain, headers['content-type']) : []
}
