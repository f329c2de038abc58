// POST /v1/responses and /v1/responses/compact: the same scripts behind the API that Codex and the OpenAI Agents SDK use.
import { compactOnDemand } from '../../api/compaction.ts'
import { type Result, record } from '../../api/record.ts'
import type { World } from '../../api/world.ts'
import { keyOf, readBody } from '../../http/incoming.ts'
import { sseHeaders, sseStream } from '../../http/sse.ts'
import { overflowResponse, readShape } from '../../overflow/overflow.ts'
import { buildPrompt } from '../../prompt/prompt.ts'
import type { MessagesRequest } from '../../request/request.ts'
import { nowhere } from '../../thinking/binding.ts'
import { type Completed, complete, factsFor, overflowIn } from '../complete.ts'
import { type ChatProblem, chatProblem, chatProblemBody, noKey } from '../problem.ts'
import { failedEvents, responseEvents } from './events.ts'
import { isMessage } from './items.ts'
import { type ReadPorts, type ResponsesRequest, readResponses } from './read.ts'
import { outputItems, responseBody, responseUsage } from './write.ts'

type Endpoint = '/v1/responses' | '/v1/responses/compact'

type Trace = {
  readonly world: World
  readonly endpoint: Endpoint
  readonly organization: string
  readonly request?: MessagesRequest
}

type Asked = {
  readonly http: Request
  readonly trace: Trace
  readonly read: ResponsesRequest
  readonly started: number
}

export async function handleResponses(http: Request, endpoint: Endpoint, world: World): Promise<Response> {
  const started = world.clock.now()
  const organization = keyOf(http.headers)
  const anonymous = { world, endpoint, organization }
  if (organization === '') return refuse(noKey, anonymous)
  const body = await readBody(http, world.options.maxBodyBytes)
  if (!body.ok) {
    return refuse({ ...chatProblem(body.problem.message, null, null), status: body.problem.status }, anonymous)
  }
  const read = readResponses(body.value, readPorts(world, organization))
  if ('problem' in read) return refuse(read.problem, anonymous)
  const asked = { http, trace: { ...anonymous, request: read.request }, read, started }
  return endpoint === '/v1/responses' ? respond(asked) : compact(asked)
}

function readPorts(world: World, organization: string): ReadPorts {
  const { signer } = world.ports()
  return {
    factsOf: (model) => factsFor(model, world),
    stored: world.organization(organization).responses,
    unseal: (sealed) => {
      const claim = signer.read(sealed, '')
      return claim?.kind === 'sealed' ? claim.text : undefined
    },
  }
}

async function respond(asked: Asked): Promise<Response> {
  const { http, trace, read, started } = asked
  const { world, organization } = trace
  const { request, body, items } = read
  const prompt = buildPrompt(request, request.messages, world.ports())
  if (overflowIn(request, prompt.tokens) !== undefined) return refuseOverflow(asked, prompt.tokens)
  if (world.options.latency.first > 0) await world.clock.sleep(world.options.latency.first)
  const completed = read.isCompaction
    ? await summarized(asked)
    : await complete(request, { world, organization, prompt, started })
  if (completed instanceof Response) return completed
  const id = world.ids('resp')
  const output = outputItems(completed.finished.content, body, { ids: world.ids, seal: sealWith(world) })
  world.organization(organization).responses.hold({ id, input: items, output }, { isStored: body.store !== false })
  note(trace, { status: 200, outcome: completed.finished.stopReason, samplings: [completed.sampling] })
  const answered = { ...completed, id, created: Math.floor(started / 1_000), body, output }
  if (request.stream) return streamed(responseEvents(answered), http, world)
  return Response.json(responseBody(answered), { headers: idHeaders(world) })
}

/** A summary as the only block of an answer, or the reason why there is none. */
async function summarized({ http, trace, read, started }: Asked): Promise<Completed | Response> {
  const { world, organization } = trace
  const { request } = read
  const work = { request, messages: request.messages, ports: world.ports() }
  const made = await compactOnDemand(work, nowhere, { world, organization: world.organization(organization), started })
  if ('window' in made) return refuseOverflow({ http, trace, read, started }, made.tokens)
  if (made.content.length === 0) {
    return refuse({ ...chatProblem('The conversation could not be compacted.', null, null), status: 500 }, trace)
  }
  const { content, sampling } = made
  const { output: outputTokens, thinking: thinkingTokens } = sampling
  const finished = { content, stopReason: 'compaction', stopSequence: null, outputTokens, thinkingTokens }
  return { finished, sampling }
}

/** Keeps the user's words and replaces everything else with one sealed summary. */
async function compact(asked: Asked): Promise<Response> {
  const { trace, read, started } = asked
  const { world } = trace
  const completed = await summarized(asked)
  if (completed instanceof Response) return completed
  const { finished, sampling } = completed
  note(trace, { status: 200, outcome: finished.stopReason, samplings: [sampling] })
  const output = [
    ...read.items.filter((item) => isMessage(item) && item.role === 'user'),
    ...outputItems(finished.content, read.body, { ids: world.ids, seal: sealWith(world) }),
  ]
  const facts = { id: world.ids('resp'), object: 'response.compaction', created_at: Math.floor(started / 1_000) }
  return Response.json({ ...facts, output, usage: responseUsage(sampling) }, { headers: idHeaders(world) })
}

function sealWith(world: World): (text: string) => string {
  const { signer } = world.ports()
  return (text) => signer.sign({ kind: 'sealed', text }, '')
}

const tooLong = 'Your input exceeds the context window of this model. Please adjust your input and try again.'

/** The stream has already begun when its prompt is counted, so the error is inside it. */
function refuseOverflow({ http, trace, read, started }: Asked, tokens: number): Response {
  const { world } = trace
  const shape = readShape(http.headers.get('x-everlong-overflow'))
  if (shape !== undefined && shape !== 'stream') {
    const { window } = read.request.facts
    const response = overflowResponse(shape, { type: 'prompt', tokens, window }, world.ids('req'))
    note(trace, { status: response.status, outcome: 'context_length_exceeded', samplings: [] })
    return response
  }
  const problem = chatProblem(tooLong, 'input', 'context_length_exceeded')
  if (!read.request.stream) return refuse(problem, trace)
  note(trace, { status: 200, outcome: 'context_length_exceeded', samplings: [] })
  const { message, param } = problem
  const error = { code: 'context_length_exceeded', message, param }
  const failed = { id: world.ids('resp'), created: Math.floor(started / 1_000), body: read.body, error }
  return streamed(failedEvents(failed), http, world)
}

function streamed(events: Iterator<{ readonly type: string }>, http: Request, world: World): Response {
  const pace = { clock: world.clock, perEvent: world.options.latency.perEvent, signal: http.signal }
  return new Response(sseStream(events, pace), { headers: { ...idHeaders(world), ...sseHeaders } })
}

function refuse(problem: ChatProblem, trace: Trace): Response {
  note(trace, { status: problem.status, outcome: problem.message, samplings: [] })
  return Response.json(chatProblemBody(problem), { status: problem.status, headers: idHeaders(trace.world) })
}

function idHeaders(world: World): Readonly<Record<string, string>> {
  return { 'x-request-id': world.ids('req') }
}

function note({ world, endpoint, organization, request }: Trace, result: Result): void {
  record(world, { endpoint, organization, model: request?.model ?? '-', request }, result)
}
