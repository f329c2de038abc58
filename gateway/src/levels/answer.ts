// Level 2: the client's own compaction is answered with Everlong's handover. The summary is written by the model that the client
// would have asked, with the client's own cache and credential; code checks it and adds the record. Whatever goes wrong, the
// request passes on as it came.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { compact, type Message, type ModelAnswer } from 'everlong'
import { blocksOf, isObject, type JsonObject, readContinuation, textOf } from 'everlong/internal'
import type { Asked, Dialect } from '../dialects/dialect.ts'
import { isReminder } from '../dialects/reminders.ts'
import { bodyObject, readBody } from '../http/body.ts'
import { refuse, tooLarge } from '../http/refusals.ts'
import type { Parts } from '../parts.ts'
import type { Trace } from '../telemetry/telemetry.ts'
import type { Route } from '../upstreams.ts'
import type { ReadableCall } from './call.ts'
import { type CompactionRequest, compactionIn, conversationBefore, mayBeCompaction } from './compaction-request.ts'
import { passOn, recordExchange } from './observe.ts'
import { relayClient } from './relay.ts'
import { type Reply, type Replying, signsOfLife, writeReply } from './reply.ts'

/** Everything except compactions passes unchanged. */
export function answerCompactions(call: ReadableCall, parts: Parts): Promise<void> {
  return answerOr(call, parts, async (bytes, own) => {
    const forwarded = await passOn(call, bytes, parts)
    recordExchange(call, { forwarded, bytes, own, isHandover: false }, parts)
  })
}

/** Gets the unchanged request, and answers to requests that the gateway has already made for it. */
type PassOn = (bytes: Buffer, own: readonly ModelAnswer[]) => Promise<void>

/** Reads the request before it passes, and answers it if it is a compaction. */
export async function answerOr(call: ReadableCall, parts: Parts, otherwise: PassOn): Promise<void> {
  const { incoming, outgoing, shape, dialect, route } = call
  const { limits } = parts.config
  const body = await readBody(incoming, limits.maxBodyBytes)
  if (body.type === 'broken') return
  if (body.type === 'too-large') return refuse(outgoing, tooLarge(limits.maxBodyBytes), shape)
  const { bytes } = body
  const own: ModelAnswer[] = []
  const read = await compactionOf(call, bytes, parts)
  if (read) {
    const replying = { outgoing, dialect: dialect.name, isStreamed: read.asked.isStreamed }
    const onAnswer = (answer: ModelAnswer) => own.push(answer)
    const handover = await handoverFor({
      ...read,
      incoming,
      replying,
      route,
      trace: call.trace,
      dialect,
      timeoutMs: limits.idleMs,
      pingMs: limits.pingMs,
      onAnswer,
    })
    const forwarded = { status: 200, headers: {}, bytes: undefined, firstByteMs: undefined }
    if (outgoing.destroyed) {
      const gone = { ...forwarded, type: 'aborted', isWhole: false } as const
      return recordExchange(call, { forwarded: gone, bytes, own, isHandover: true }, parts)
    }
    if (handover.type === 'handover') {
      writeReply(replying, handover.reply)
      const whole = { ...forwarded, type: 'answered', isWhole: true } as const
      return recordExchange(call, { forwarded: whole, bytes, own, isHandover: true }, parts)
    }
    parts.log('warn', 'no-handover', { tenant: call.caller.tenant, why: handover.why })
  }
  await otherwise(bytes, own)
}

type ReadCompaction = Pick<Answering, 'body' | 'asked' | 'request'>

async function compactionOf(
  { incoming, dialect }: ReadableCall,
  bytes: Buffer,
  parts: Parts,
): Promise<ReadCompaction | undefined> {
  const { headers } = incoming
  if (!mayBeCompaction(bytes, headers)) return undefined
  const { maxBodyBytes: maxBytes } = parts.config.limits
  const body = await bodyObject(bytes, { encoding: headers['content-encoding'], maxBytes })
  const asked = body && dialect.readRequest(body)
  const request = asked && compactionIn(asked, headers)
  return request && { body, asked, request }
}

type Answering = {
  readonly incoming: IncomingMessage
  readonly replying: Replying
  readonly route: Route
  readonly trace: Trace
  readonly dialect: Dialect
  readonly body: JsonObject
  readonly asked: Asked
  readonly request: CompactionRequest
  readonly timeoutMs: number
  readonly pingMs: number
  readonly onAnswer: (answer: ModelAnswer) => void
}

type Handover =
  | { readonly type: 'handover'; readonly reply: Reply; readonly tokensBefore: number }
  | { readonly type: 'none'; readonly why: string }

async function handoverFor(answering: Answering): Promise<Handover> {
  const { incoming, replying, route, dialect, asked, request } = answering
  const before = conversationBefore(asked, request)
  const messages = before.messages.map(messageFor)
  const body = bodyBefore(answering)
  if (messages.length === 0 || !body) return { type: 'none', why: 'there is no conversation before it' }
  const gone = new AbortController()
  const stop = signsOfLife(replying, answering.pingMs)
  replying.outgoing.once('close', () => gone.abort())
  const call = {
    upstream: route.upstream,
    path: route.path,
    rawHeaders: incoming.rawHeaders,
    timeoutMs: answering.timeoutMs,
  }
  const model = relayClient({ dialect, body, messages, call, trace: answering.trace, onAnswer: answering.onAnswer })
  try {
    const outcome = await compact(messages, {
      model,
      conversation: { source: 'compact', model: asked.model, messages },
      signal: gone.signal,
      onEvent: answering.trace.onEvent,
      // A conversation that no model can read any more still gets a page, written by code.
      settings: { offline: 'overflow' },
      ...(request.instructions === undefined ? {} : { instructions: request.instructions }),
    })
    if (outcome.type === 'failed') return { type: 'none', why: outcome.why }
    const { summary, usage, tokens } = outcome
    const reply = {
      id: `msg_${randomUUID().replaceAll('-', '')}`,
      model: asked.model,
      text: textFor(request, summary),
      usage,
    }
    return { type: 'handover', reply, tokensBefore: tokens.before }
  } finally {
    stop()
  }
}

/** A client's own text in a separate message must not pass for the user's words. */
function messageFor({ role, content, origin }: Asked['messages'][number]): Message {
  if (origin !== 'meta') return { role, content }
  const text = textOf(content)
  const note = isReminder(text.trim()) ? text : `<system-reminder>\n${text}\n</system-reminder>`
  return { role, content: [{ type: 'text', text: note }] }
}

/**
 * The caller's body without the request for a summary. The cache is read at marks, and the last mark may be on that request, so
 * the previous message gets it.
 */
function bodyBefore({ body, dialect, request }: Answering): JsonObject | undefined {
  const field = dialect.name === 'responses' ? 'input' : 'messages'
  const list = body[field]
  const last = Array.isArray(list) ? list.at(-1) : undefined
  if (!Array.isArray(list) || !isObject(last)) return undefined
  const blocks = blocksOf(last.content as never)
  const left = blocks.slice(0, Math.max(0, blocks.length - request.blocks))
  const rest = left.length === 0 ? list.slice(0, -1) : [...list.slice(0, -1), { ...last, content: left }]
  const mark = blocks.slice(-request.blocks).findLast(({ cache_control }) => isObject(cache_control))?.cache_control
  return { ...body, [field]: mark === undefined ? rest : withMark(rest, mark) }
}

function withMark(messages: readonly unknown[], mark: unknown): readonly unknown[] {
  const last = messages.at(-1)
  if (!isObject(last)) return messages
  const blocks = blocksOf(last.content as never)
  const at = blocks.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  if (at < 0) return messages
  const content = blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block))
  return [...messages.slice(0, -1), { ...last, content }]
}

/** The text that the client wraps around a summary: the page, and after it the user's latest request. */
function textFor({ client }: CompactionRequest, summary: string): string {
  const read = readContinuation(summary)
  const page = read?.summary ?? summary
  const whole = read?.request === undefined ? page : `${page}\n\nThe user’s latest request, verbatim:\n${read.request}`
  if (client === 'codex') return whole
  // The client takes the text between the tags, up to the first end tag.
  return `<analysis>\nWritten by Everlong.\n</analysis>\n\n<summary>\n${whole.replaceAll(/<(\/?)summary>/gi, '‹$1summary›')}\n</summary>`
}
