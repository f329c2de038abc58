// Turns exchanges that are over into transcripts, in the background and in the order in which they ended. Nothing that goes wrong
// here reaches a client; it is logged, and the next request of the conversation brings everything again.
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../config/schema.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { eventsOf } from '../dialects/events.ts'
import { bodyObject, decoded } from '../http/body.ts'
import type { Forwarded } from '../http/forward.ts'
import { clientIdsOf } from '../identify/client-ids.ts'
import type { Identify } from '../identify/identify.ts'
import type { Log } from '../log.ts'
import type { Caller } from '../tenants.ts'
import type { Transcripts } from './transcripts.ts'

/** A request with its answer, as bytes. */
export type Passed = {
  readonly caller: Caller
  /** Its name. */
  readonly upstream: string
  /** Of the request. */
  readonly headers: IncomingHttpHeaders
  readonly dialect: Dialect
  readonly forwarded: Forwarded
  /** Of the request. */
  readonly bytes: Buffer
}

export type Recorder = {
  readonly add: (passed: Passed) => void
  /** Resolves when everything that was added is written or given up. */
  readonly settled: () => Promise<void>
}

export type RecorderParts = {
  readonly config: Config
  readonly identify: Identify
  readonly transcripts: Transcripts
  readonly log: Log
}

export function createRecorder(parts: RecorderParts): Recorder {
  let tail: Promise<unknown> = Promise.resolve()
  return {
    add: (passed) => {
      tail = tail
        .then(() => record(passed, parts))
        .catch((error: unknown) => {
          parts.log('error', 'not-recorded', {
            tenant: passed.caller.tenant,
            why: error instanceof Error ? error.message : String(error),
          })
        })
    },
    settled: async () => {
      await tail
    },
  }
}

async function record(passed: Passed, parts: RecorderParts): Promise<void> {
  const { caller, dialect, forwarded, bytes, headers, upstream } = passed
  // Whoever was refused has said nothing yet.
  if (forwarded.status < 200 || forwarded.status > 299) return
  const { limits } = parts.config
  const body = await bodyObject(bytes, { encoding: headers['content-encoding'], maxBytes: limits.maxBodyBytes })
  const asked = body && dialect.readRequest(body)
  if (!asked) return
  const { tenant } = caller
  const events = await eventsIn(forwarded, limits.maxStoredAnswerBytes)
  const answer = dialect.readAnswer(events)
  const conversation = await parts.identify.conversationOf({ tenant, ids: clientIdsOf(headers, body), asked })
  const { forkedFrom } = conversation
  const facts = {
    upstream: upstream,
    api: dialect.name,
    key: caller.key,
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
  }
  const written = await parts.transcripts.write({ conversation, asked, answer, facts })
  if (written.type === 'not-stored') {
    parts.log('error', 'not-recorded', { tenant, session: conversation.session, why: written.why })
    return
  }
  await parts.identify.ended(conversation, conversation.chain.at(-1) ?? '')
  if (answer) await parts.identify.ended(conversation, written.digest)
}

async function eventsIn({ bytes, headers }: Forwarded, maxBytes: number): Promise<readonly unknown[]> {
  const plain = bytes && (await decoded(bytes, headers['content-encoding'], maxBytes))
  return plain ? eventsOf(plain, headers['content-type']) : []
}
