// Agents on the Anthropic SDK for the contract of adapters: with the client's middleware, whole answers and streams, and with
// the tool runner.
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { everlong } from 'everlong/anthropic'
import { z } from 'zod'
import { type Adapter, type AgentInput, type Said, storedLists } from './contract.ts'

type How = 'whole' | 'streamed' | 'runner' | BuiltIn
/** Parameters that let the server manage the context. */
type BuiltIn = Pick<Anthropic.Beta.MessageCreateParamsNonStreaming, 'context_management' | 'betas'>

/**
 * The server clears old results for this client, so the contract's provider is never surprised. Overflows are tested in
 * anthropic.test.ts.
 */
export const anthropicAdapters: readonly Adapter[] = [
  { name: 'middleware', start: (input) => start(input, 'whole') },
  { name: 'middleware, streaming', start: (input) => start(input, 'streamed') },
  { name: 'middleware, tool runner', start: (input) => start(input, 'runner') },
]

const clearing = (value: number): BuiltIn => ({
  betas: ['context-management-2025-06-27'],
  context_management: { edits: [{ type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens', value } }] },
})

/** The API accepts no fewer than 50,000 tokens. */
const compacting: BuiltIn = {
  betas: ['compact-2026-01-12'],
  context_management: { edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 } }] },
}

/** The API's own features, with the cache marks of a careful host. */
export const anthropicBuiltIns: readonly Adapter[] = [
  { name: 'server compaction at 50,000', start: (input) => start(input, compacting) },
  { name: 'clear_tool_uses at 40,000', start: (input) => start(input, clearing(40_000)) },
  { name: 'clear_tool_uses at 20,000', start: (input) => start(input, clearing(20_000)) },
]

/** At the newest two messages. */
function marked(messages: Messages): Messages {
  return messages.map((message, at) => {
    if (at < messages.length - 2 || !Array.isArray(message.content)) return message
    const last = message.content.findLastIndex(({ type }) => type !== 'thinking')
    const content = message.content.map((block, index) => {
      return index === last ? { ...block, cache_control: { type: 'ephemeral' as const } } : block
    })
    return { ...message, content } as Anthropic.Beta.BetaMessageParam
  })
}

type Messages = Anthropic.Beta.BetaMessageParam[]
type Options = Pick<Said, 'model' | 'signal'>

async function start({ url, model, settings, isManaged, system, read, storage }: AgentInput, how: How) {
  const managed = everlong({ settings })
  const middleware = isManaged && typeof how === 'string' ? [managed.middleware] : []
  const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 5, middleware })
  const tool = betaZodTool({
    name: 'read',
    description: 'Reads a part of a module.',
    inputSchema: z.object({ module: z.number(), part: z.number() }),
    run: read,
  })
  const limits = { system, max_tokens: 4_000 }
  const number = { type: 'number' }
  const input_schema = { type: 'object' as const, properties: { module: number, part: number } }
  const tools = [{ name: 'read', description: 'Reads a part of a module.', input_schema }]
  const lists = storedLists<Anthropic.Beta.BetaMessageParam>(storage)
  const ask = (
    messages: Messages,
    { model: called = model, ...options }: Options,
  ): Promise<Anthropic.Beta.BetaMessage> => {
    const base = { ...limits, model: called }
    if (typeof how !== 'string') {
      const text = [{ type: 'text' as const, text: system, cache_control: { type: 'ephemeral' as const } }]
      return client.beta.messages.create({ ...base, ...how, system: text, tools, messages: marked(messages) }, options)
    }
    const params = { ...base, tools, messages }
    return how === 'streamed'
      ? client.beta.messages.stream(params, options).finalMessage()
      : client.beta.messages.create(params, options)
  }
  const run = async (messages: Messages, options: Options): Promise<Anthropic.Beta.BetaMessage> => {
    if (how === 'runner') {
      const { model: called = model, ...own } = options
      const params = { ...limits, model: called, tools: [tool], messages, thread: false as const }
      const runner = client.beta.messages.toolRunner(params, own)
      const answer = await runner
      messages.splice(0, messages.length, ...runner.params.messages)
      return answer
    }
    for (;;) {
      const answer = await ask(messages, options)
      messages.push({ role: 'assistant', content: answer.content })
      const calls = answer.content.filter((block) => block.type === 'tool_use')
      if (calls.length === 0) return answer
      const results = calls.map(({ id, input }) => {
        return { type: 'tool_result' as const, tool_use_id: id, content: read(input as never) }
      })
      messages.push({ role: 'user', content: results })
    }
  }
  return {
    say: async (said: Said) => {
      const messages = lists.of(said.conversation)
      messages.push({ role: 'user', content: contentOf(said) })
      const { signal, model: called } = said
      const { content } = await run(messages, { ...(called ? { model: called } : {}), ...(signal ? { signal } : {}) })
      return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
    },
    sessions: managed.sessions,
    close: async () => {
      lists.save()
      await managed.close()
    },
  }
}

function contentOf({ text, image }: Said): Anthropic.Beta.BetaContentBlockParam[] {
  const shown = image && {
    type: 'image' as const,
    source: { type: 'base64' as const, media_type: 'image/png' as const, data: image },
  }
  return [{ type: 'text', text }, ...(shown ? [shown] : [])]
}
