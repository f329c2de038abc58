// pi's model as a client for summaries. pi resolves the provider, the key and the retries of its connection; nothing else
// is ever asked of it. A conversation whose prompt is still cached is sent as pi sent it, so that it is read from there.
import type { ModelAnswer, ModelClient, ModelFailure, ModelRequest } from 'everlong'
import { blocksOf, isText, readRefusal } from 'everlong/internal'
import type { CachedPrompt } from './cached-prompt.ts'
import { conversationText } from './conversation-text.ts'
import type { AssistantMessage, Context, Model, ProviderMessage, Usage } from './pi-api.ts'

export type PiModel = ModelClient & {
  /** Usage of all calls so far. Undefined if there was none. */
  readonly spent: () => Usage | undefined
}

export type PiModelInput = {
  readonly context: Pick<Context, 'modelRegistry' | 'sessionManager' | 'thinkingLevel'>
  readonly model: Model
  readonly signal: AbortSignal
  /** Left out where nothing is cached. */
  readonly cached?: CachedPrompt | undefined
}

export function piModel(input: PiModelInput): PiModel {
  const { model, cached } = input
  let usage: Usage | undefined
  const abilities = { cacheEdits: false, contextManagement: false, compaction: 'none', offline: false } as const
  return {
    provider: 'pi',
    model: model.id,
    capabilities: () => ({
      ...abilities,
      window: model.contextWindow,
      maxOutput: model.maxTokens,
      promptCache: cached !== undefined,
    }),
    send: async (request) => {
      const answer = await ask(request, input)
      usage = usage ? added(usage, answer.usage) : answer.usage
      return answerOf(answer)
    },
    spent: () => usage,
  }
}

async function ask(request: ModelRequest, { context, model, signal, cached }: PiModelInput): Promise<AssistantMessage> {
  const { modelRegistry, sessionManager, thinkingLevel } = context
  const shared = cached?.messagesFor(request)
  if (shared) {
    // The same options as a turn's: they are part of what the cache is found by.
    const options = { signal, sessionId: sessionManager.getSessionId(), ...reasoning(thinkingLevel) }
    return modelRegistry.streamSimple(model, { messages: shared }, options).result()
  }
  const { system, messages, maxTokens } = request
  const [last, ...before] = messages.toReversed()
  const prompt = last ? textIn(last.content) : ''
  const text = before.length === 0 ? prompt : `${conversationText(before.reverse())}\n\n${prompt}`
  const said: ProviderMessage = { role: 'user', content: [{ type: 'text', text }], timestamp: Date.now() }
  return modelRegistry
    .streamSimple(
      model,
      { ...(typeof system === 'string' ? { systemPrompt: system } : {}), messages: [said] },
      // A prompt that is sent once is not worth writing to the cache.
      { signal, maxTokens, cacheRetention: 'none', sessionId: crypto.randomUUID() },
    )
    .result()
}

function reasoning(level: string | undefined): { readonly reasoning?: string } {
  return level === undefined || level === 'off' ? {} : { reasoning: level }
}

function textIn(content: ModelRequest['messages'][number]['content']): string {
  return typeof content === 'string'
    ? content
    : blocksOf(content)
        .flatMap((block) => (isText(block) ? [block.text] : []))
        .join('\n')
}

const stopReasons: Readonly<Record<string, string>> = { stop: 'end_turn', length: 'max_tokens', toolUse: 'tool_use' }

function answerOf(answer: AssistantMessage): ModelAnswer | ModelFailure {
  const { content, model, stopReason, errorMessage = '', responseId } = answer
  const { input, output, cacheRead, cacheWrite, cacheWrite1h = 0 } = answer.usage
  if (stopReason === 'aborted') return { type: 'failed', reason: 'aborted', message: 'aborted', tries: 1 }
  if (stopReason === 'error') {
    const { reason, message, overflow } = readRefusal({ body: errorMessage })
    return { type: 'failed', reason, message, tries: 1, ...(overflow ? { overflow } : {}) }
  }
  return {
    type: 'answer',
    id: responseId ?? crypto.randomUUID(),
    model,
    content: content.map((block) =>
      block.type === 'toolCall'
        ? { type: 'tool_use', id: String(block.id), name: String(block.name), input: block.arguments }
        : { ...block, type: String(block.type) },
    ),
    stopReason: stopReasons[stopReason] ?? stopReason,
    usage: { input, output, cacheRead, cacheWrite, cacheWriteHour: cacheWrite1h },
  }
}

function added(one: Usage, other: Usage): Usage {
  const sum = (key: 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'totalTokens') => one[key] + other[key]
  const cost = Object.fromEntries(
    Object.entries(one.cost).map(([part, dollars]) => {
      const more = other.cost[part]
      return [part, typeof dollars === 'number' && typeof more === 'number' ? dollars + more : dollars]
    }),
  )
  return {
    input: sum('input'),
    output: sum('output'),
    cacheRead: sum('cacheRead'),
    cacheWrite: sum('cacheWrite'),
    totalTokens: sum('totalTokens'),
    cost: { ...cost, total: one.cost.total + other.cost.total },
  }
}
