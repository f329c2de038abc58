// Shared steps of both OpenAI-compatible endpoints after reading a request: facts about the model, the cache, the script, the
// answer. Prefixes are cached automatically, in steps of 128 tokens from 1,024 on, as in that API.
import type { ModelFacts } from 'everlong/internal'
import { type Finished, finish } from '../answer/finish.ts'
import { noSampling, type Sampling } from '../answer/usage.ts'
import type { World } from '../api/world.ts'
import { scriptRequest } from '../context/script-view.ts'
import type { Overflow } from '../overflow/overflow.ts'
import type { Prompt } from '../prompt/prompt.ts'
import type { MessagesRequest } from '../request/request.ts'
import { nowhere } from '../thinking/binding.ts'

const cacheStep = 128
const cacheMinimum = 1_024

/** Any name is a model here. These are the facts of models that the catalog lacks. */
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

export function factsFor(model: string, world: World): ModelFacts {
  return world.factsOf(model) ?? { ...unknownModel, id: model, window: world.windowOf(model) ?? unknownModel.window }
}

/** Without its own limit, the answer uses the available room. */
export function overflowIn(request: MessagesRequest, tokens: number): Overflow | undefined {
  const { window } = request.facts
  return tokens >= window ? { type: 'prompt', tokens, window } : undefined
}

export type Completing = {
  readonly world: World
  readonly organization: string
  readonly prompt: Prompt
  readonly started: number
}

export type Completed = { readonly finished: Finished; readonly sampling: Sampling }

export async function complete(
  request: MessagesRequest,
  { world, organization, prompt, started }: Completing,
): Promise<Completed> {
  const { cache } = world.organization(organization)
  const marked = { ...prompt, cells: prompt.cells.map((cell) => ({ ...cell, mark: '5m' as const })) }
  const use = cache.look(marked, started, cacheMinimum)
  const room = Math.min(request.maxTokens, request.facts.window - prompt.tokens)
  const said = await world.ask(world.options.script, scriptRequest(request, request.messages, room))
  cache.commit(use, started)
  const ports = { ...world.ports(), ids: () => world.ids('call') }
  const finished = finish(said, { request, ports, place: nowhere, limit: { tokens: room, reason: 'max_tokens' } })
  const read = Math.floor(use.read / cacheStep) * cacheStep
  const { outputTokens: output, thinkingTokens: thinking } = finished
  return { finished, sampling: { ...noSampling, read, input: prompt.tokens - read, output, thinking } }
}
