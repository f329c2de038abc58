// POST /v1/messages and /v1/messages/count_tokens: from a Request to a Response, every request logged and priced.
import { isObject, type ModelFacts } from 'everlong/internal'
import { eventsOf, type StreamEvent } from '../answer/events.ts'
import { noSampling, usageBody } from '../answer/usage.ts'
import { type Incoming, readBody, readHead } from '../http/incoming.ts'
import { type Problem, problemBody } from '../http/problem.ts'
import { sseHeaders, sseStream } from '../http/sse.ts'
import { type Overflow, overflowProblem, overflowResponse, tooLarge } from '../overflow/overflow.ts'
import { parseRequest } from '../request/parse.ts'
import type { MessagesRequest } from '../request/request.ts'
import { brokenRule } from '../rules/rules.ts'
import { countTokens } from './count-tokens.ts'
import { createMessage, type Reply } from './create-message.ts'
import { type Result, record } from './record.ts'
import type { RequestContext, World } from './world.ts'

type Endpoint = 'create' | 'count'
type Asked = { readonly request: MessagesRequest; readonly incoming: Incoming }

export async function handleMessages(request: Request, endpoint: Endpoint, world: World): Promise<Response> {
  const started = world.clock.now()
  const id = world.ids('req')
  const asked = await readRequest(request, endpoint, world)
  if ('problem' in asked) return refuse(asked.problem, { id, endpoint, world, asked })
  const { incoming } = asked
  const context: RequestContext = { world, organization: world.organization(incoming.organization), started }
  if (endpoint === 'count') {
    const counted = countTokens(asked.request, context)
    if ('problem' in counted) return refuse(counted.problem, { id, endpoint, world, asked })
    note({ id, endpoint, world, asked }, { status: 200, outcome: 'counted', samplings: [] })
    return json(counted, 200, id)
  }
  if (world.options.latency.first > 0) await world.clock.sleep(world.options.latency.first)
  const reply = await createMessage(asked.request, context).catch(brokenScript)
  if (reply.type === 'message') {
    const { message } = reply.streamed
    context.organization.threads.hold(String(message.id), asked.request.body, message.content)
  }
  return respond(reply, { id, endpoint, world, asked }, request.signal)
}

/** A script must not throw. If it does, the client sees an ordinary server error. */
function brokenScript(error: unknown): Reply {
  const message = error instanceof Error ? error.message : String(error)
  return { type: 'problem', problem: { status: 500, type: 'api_error', message } }
}

type Failed = { readonly problem: Problem; readonly body?: unknown; readonly incoming?: Incoming }

async function readRequest(request: Request, endpoint: Endpoint, world: World): Promise<Asked | Failed> {
  const head = readHead(request.headers)
  if (!head.ok) return head
  const incoming = head.value
  const body = await readBody(request, world.options.maxBodyBytes)
  if (!body.ok) return { problem: body.problem, incoming }
  const { betas, extensions, version } = incoming
  const factsOf = (model: string) => widened(world.factsOf(model), betas)
  const whole = world.organization(incoming.organization).threads.resolve(body.value, betas)
  if (!whole.ok) return { problem: whole.problem, incoming, body: body.value }
  const parsed = parseRequest(whole.value, {
    endpoint,
    isCurrent: version === '2026-10-21',
    betas,
    extensions,
    factsOf,
  })
  if (!parsed.ok) return { problem: parsed.problem, incoming, body: body.value }
  const problem = brokenRule(parsed.value)
  return problem ? { problem, incoming, body: body.value } : { request: parsed.value, incoming }
}

/** The beta with which some 200,000-token models have a million. */
function widened(facts: ModelFacts | undefined, betas: ReadonlySet<string>): ModelFacts | undefined {
  const isWide =
    facts?.id.startsWith('claude-sonnet-4') && betas.has('context-1m-2025-08-07') && facts.window === 200_000
  return facts && isWide ? { ...facts, window: 1_000_000 } : facts
}

type Trace = { readonly id: string; readonly endpoint: Endpoint; readonly world: World; readonly asked: Asked | Failed }

function respond(reply: Reply, trace: Trace, signal: AbortSignal): Response {
  if (reply.type === 'problem') return refuse(reply.problem, trace)
  if (reply.type === 'overflow') return refuseOverflow(reply.overflow, trace, signal)
  const { message } = reply.streamed
  note(trace, { status: 200, outcome: String(message.stop_reason), samplings: reply.samplings })
  const isStream = 'request' in trace.asked && trace.asked.request.stream
  if (!isStream) return json(message, 200, trace.id)
  return stream(eventsOf(reply.streamed, trace.world.options.pingEvery), trace, signal)
}

function refuseOverflow(overflow: Overflow, trace: Trace, signal: AbortSignal): Response {
  const { asked, world, id } = trace
  const shape = asked.incoming?.overflow ?? world.options.overflow
  const outcome = overflowProblem(overflow).message
  if (shape === 'stream' && 'request' in asked && asked.request.stream) {
    note(trace, { status: 200, outcome, samplings: [] })
    return stream(brokenStream(asked.request, overflow, trace), trace, signal)
  }
  const response = overflowResponse(shape, overflow, id)
  note(trace, { status: response.status, outcome, samplings: [] })
  return response
}

/** A stream that began with 200 and ends in an error. */
function* brokenStream(request: MessagesRequest, overflow: Overflow, trace: Trace): Generator<StreamEvent> {
  const usage = usageBody(noSampling, undefined)
  const message = { id: trace.world.ids('msg'), type: 'message', role: 'assistant', model: request.model, content: [] }
  yield { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } }
  yield { type: 'ping' }
  yield { ...problemBody(overflowProblem(overflow), trace.id), type: 'error' }
}

function stream(events: Iterator<StreamEvent>, trace: Trace, signal: AbortSignal): Response {
  const { clock, options } = trace.world
  const body = sseStream(events, { clock, perEvent: options.latency.perEvent, signal })
  return new Response(body, { status: 200, headers: { ...idHeaders(trace.id), ...sseHeaders } })
}

function refuse(problem: Problem, trace: Trace): Response {
  // The proxy before the API refuses large bodies, and not always in JSON.
  if (problem === tooLarge && trace.asked.incoming?.overflow === '413-text') return tooLargeAsText(trace)
  note(trace, { status: problem.status, outcome: problem.message, samplings: [] })
  return json(problemBody(problem, trace.id), problem.status, trace.id)
}

function tooLargeAsText(trace: Trace): Response {
  note(trace, { status: 413, outcome: tooLarge.message, samplings: [] })
  return overflowResponse('413-text', { type: 'prompt', tokens: 0, window: 0 }, trace.id)
}

export function json(body: object, status: number, id: string): Response {
  const headers = { ...idHeaders(id), 'content-type': 'application/json' }
  return new Response(JSON.stringify(body), { status, headers })
}

function idHeaders(id: string): Readonly<Record<string, string>> {
  return { 'request-id': id, 'anthropic-organization-id': 'org_everlong_simulator' }
}

function note({ endpoint, world, asked }: Trace, result: Result): void {
  const request = 'request' in asked ? asked.request : undefined
  const answered = {
    endpoint: endpoint === 'create' ? '/v1/messages' : '/v1/messages/count_tokens',
    organization: asked.incoming?.organization ?? '',
    model: request?.model ?? modelIn(asked),
    request,
  }
  record(world, answered, result)
}

function modelIn(asked: Asked | Failed): string {
  const body = 'body' in asked ? asked.body : undefined
  return isObject(body) && typeof body.model === 'string' ? body.model : '-'
}
