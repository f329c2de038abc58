// POST /v1/chat/completions: the same scripts with OpenAI's API.
import { type Result, record } from '../api/record.ts'
import type { World } from '../api/world.ts'
import { keyOf, readBody } from '../http/incoming.ts'
import { rawStream, sseHeaders } from '../http/sse.ts'
import { type Overflow, type OverflowShape, overflowResponse, readShape } from '../overflow/overflow.ts'
import { buildPrompt } from '../prompt/prompt.ts'
import type { MessagesRequest } from '../request/request.ts'
import { complete, factsFor, overflowIn } from './complete.ts'
import { type ChatProblem, chatProblem, chatProblemBody, noKey } from './problem.ts'
import { type ChatRequest, readChat } from './read.ts'
import { type Completion, completionBody, completionChunks } from './write.ts'

type Trace = { readonly world: World; readonly organization: string; readonly request: MessagesRequest | undefined }

export async function handleChat(http: Request, world: World): Promise<Response> {
  const started = world.clock.now()
  const organization = keyOf(http.headers)
  const anonymous = { world, organization, request: undefined }
  if (organization === '') return refuse(noKey, anonymous)
  const body = await readBody(http, world.options.maxBodyBytes)
  if (!body.ok)
    return refuse({ ...chatProblem(body.problem.message, null, null), status: body.problem.status }, anonymous)
  const chat = readChat(body.value, (model) => factsFor(model, world))
  if ('problem' in chat) return refuse(chat.problem, anonymous)
  const { request } = chat
  const trace = { world, organization, request }
  const prompt = buildPrompt(request, request.messages, world.ports())
  const overflow = overflowIn(request, prompt.tokens)
  if (overflow !== undefined)
    return refuseOverflow(overflow, trace, readShape(http.headers.get('x-everlong-overflow')) ?? 'openai')
  if (world.options.latency.first > 0) await world.clock.sleep(world.options.latency.first)
  const completed = await complete(request, { world, organization, prompt, started })
  const created = Math.floor(started / 1_000)
  const completion = { id: world.ids('chatcmpl').replace('_', '-'), created, model: request.model, ...completed }
  note(trace, { status: 200, outcome: completed.finished.stopReason, samplings: [completed.sampling] })
  return respond(chat, completion, { world, signal: http.signal })
}

function respond(
  chat: ChatRequest,
  completion: Completion,
  { world, signal }: { readonly world: World; readonly signal: AbortSignal },
): Response {
  const headers = { 'x-request-id': world.ids('req') }
  if (!chat.request.stream) return Response.json(completionBody(completion), { headers })
  const pace = { clock: world.clock, perEvent: world.options.latency.perEvent, signal }
  const write = (chunk: object | string) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`
  const body = rawStream(completionChunks(completion, chat.includesUsage), write, pace)
  return new Response(body, { headers: { ...headers, ...sseHeaders } })
}

function refuse(problem: ChatProblem, trace: Trace): Response {
  note(trace, { status: problem.status, outcome: problem.message, samplings: [] })
  const headers = { 'x-request-id': trace.world.ids('req') }
  return Response.json(chatProblemBody(problem), { status: problem.status, headers })
}

function refuseOverflow(overflow: Overflow, trace: Trace, shape: OverflowShape): Response {
  const response = overflowResponse(shape, overflow, trace.world.ids('req'))
  note(trace, { status: response.status, outcome: 'context_length_exceeded', samplings: [] })
  return response
}

function note({ world, organization, request }: Trace, result: Result): void {
  record(world, { endpoint: '/v1/chat/completions', organization, model: request?.model ?? '-', request }, result)
}
