// POST /v1/chat/completions: the same scripts behind an OpenAI-compatible face. Prefixes are cached unasked, in steps
// of 128 tokens from 1,024 on, as that API does it.
import type { ModelFacts } from 'everlong/models'
import { finish } from '../answer/finish.ts'
import { noSampling } from '../answer/usage.ts'
import { type Result, record } from '../api/record.ts'
import type { World } from '../api/world.ts'
import { scriptRequest } from '../context/script-view.ts'
import { keyOf, readBody } from '../http/incoming.ts'
import { rawStream, sseHeaders } from '../http/sse.ts'
import { type Overflow, type OverflowShape, overflowResponse, readShape } from '../overflow/overflow.ts'
import { buildPrompt, type Prompt } from '../prompt/prompt.ts'
import type { MessagesRequest } from '../request/request.ts'
import { nowhere } from '../thinking/binding.ts'
import { type ChatProblem, chatProblem, chatProblemBody } from './problem.ts'
import { type ChatRequest, readChat } from './read.ts'
import { type Completion, completionBody, completionChunks } from './write.ts'

const cacheStep = 128
const cacheMinimum = 1_024

/** Any name is a model here: what the catalog does not know gets these. */
const unknownModel: Omit<ModelFacts, 'id'> = {
  window: 128_000,
  maxOutput: 16_384,
  tokenizer: 'openai',
  cacheMinimum,
  bindsThinking: false,
  thinking: 'none',
  thinksUnasked: false,
  hidesThinking: false,
  defaultEffort: 'high',
  keepsThinking: false,
  endsAtWindow: false,
  takesPrefill: true,
  takesSystemMessages: true,
  compaction: 'none',
}

type Trace = { readonly world: World; readonly organization: string; readonly request: MessagesRequest | undefined }

export async function handleChat(http: Request, world: World): Promise<Response> {
  const started = world.clock.now()
  const organization = keyOf(http.headers)
  const anonymous = { world, organization, request: undefined }
  if (organization === '') return refuse(noKey, anonymous)
  const body = await readBody(http, world.options.longestBody)
  if (!body.ok)
    return refuse({ ...chatProblem(body.problem.message, null, null), status: body.problem.status }, anonymous)
  const chat = readChat(body.value, (model) => factsFor(model, world))
  if ('problem' in chat) return refuse(chat.problem, anonymous)
  const { request } = chat
  const trace = { world, organization, request }
  const prompt = buildPrompt(request, request.messages, world.ports())
  const overflow = chatOverflow(request, prompt.tokens)
  if (overflow !== undefined)
    return refuseOverflow(overflow, trace, readShape(http.headers.get('x-everlong-overflow')) ?? 'openai')
  if (world.options.latency.first > 0) await world.clock.sleep(world.options.latency.first)
  const completion = await complete(trace, request, { prompt, started })
  note(trace, { status: 200, outcome: completion.finished.stopReason, samplings: [completion.sampling] })
  return respond(chat, completion, { world, signal: http.signal })
}

const noKey: ChatProblem = {
  status: 401,
  message: "You didn't provide an API key.",
  param: null,
  code: null,
}

function factsFor(model: string, world: World): ModelFacts {
  return world.factsOf(model) ?? { ...unknownModel, id: model, window: world.windowOf(model) ?? unknownModel.window }
}

/** Without a limit of its own, the answer takes what room there is. */
function chatOverflow(request: MessagesRequest, tokens: number): Overflow | undefined {
  const { window } = request.facts
  return tokens >= window ? { type: 'prompt', tokens, window } : undefined
}

async function complete(
  trace: Trace,
  request: MessagesRequest,
  { prompt, started }: { readonly prompt: Prompt; readonly started: number },
): Promise<Completion> {
  const { world } = trace
  const { cache } = world.organization(trace.organization)
  const marked = { ...prompt, cells: prompt.cells.map((cell) => ({ ...cell, mark: '5m' as const })) }
  const use = cache.look(marked, started, cacheMinimum)
  const room = Math.min(request.maxTokens, request.facts.window - prompt.tokens)
  const said = await world.ask(world.options.script, scriptRequest(request, request.messages, room))
  cache.commit(use, started)
  const ports = { ...world.ports(), ids: () => world.ids('call') }
  const finished = finish(said, { request, ports, place: nowhere, limit: { tokens: room, reason: 'max_tokens' } })
  const read = Math.floor(use.read / cacheStep) * cacheStep
  const sampling = { ...noSampling, read, input: prompt.tokens - read, output: finished.outputTokens }
  const created = Math.floor(started / 1_000)
  return { id: world.ids('chatcmpl').replace('_', '-'), created, model: request.model, finished, sampling }
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
