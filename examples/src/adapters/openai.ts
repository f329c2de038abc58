// A loop of one's own on the OpenAI SDK for the contract of adapters, over chat completions.
import { everlong, openai } from 'everlong/openai'
import OpenAI from 'openai'
import { type Adapter, type AgentInput, type Said, storedLists } from './contract.ts'

export const openaiAdapters: readonly Adapter[] = [{ name: 'chat completions', recovers: true, thinks: false, start }]

type Param = OpenAI.ChatCompletionMessageParam

async function start({ url, model, settings, isManaged, system, read, storage }: AgentInput) {
  const baseURL = `${url}/v1`
  const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 5 })
  const summaries = openai({ model, apiKey: 'none', baseURL })
  const { chat, sessions, close } = everlong({ model: summaries, settings })
  const number = { type: 'number' }
  const parameters = { type: 'object', properties: { module: number, part: number } }
  const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'read', parameters } }]
  const lists = storedLists<Param>(storage)
  const sendWith =
    (called: string, signal: AbortSignal | undefined) =>
    ({ messages }: { readonly messages: Param[] }) =>
      client.chat.completions.create({ model: called, tools, messages }, signal ? { signal } : {})
  return {
    say: async (said: Said) => {
      const messages = lists.of(said.conversation)
      if (messages.length === 0) messages.push({ role: 'system', content: system })
      messages.push({ role: 'user', content: contentOf(said) })
      const called = said.model ?? model
      const send = sendWith(called, said.signal)
      const call = { model: called, tools, ...(said.signal ? { signal: said.signal } : {}) }
      for (;;) {
        const completion = await (isManaged ? chat(messages, call, send) : send({ messages }))
        const answer = completion.choices[0]?.message
        if (!answer) throw new Error('no answer')
        messages.push(answer)
        const calls = (answer.tool_calls ?? []).filter((call) => call.type === 'function')
        if (calls.length === 0) return answer.content ?? ''
        for (const call of calls) {
          const content = read(JSON.parse(call.function.arguments))
          messages.push({ role: 'tool', tool_call_id: call.id, content })
        }
      }
    },
    sessions,
    close: async () => {
      lists.save()
      await close()
    },
  }
}

function contentOf({ text, image }: Said): OpenAI.ChatCompletionContentPart[] {
  const shown = image && { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${image}` } }
  return [{ type: 'text', text }, ...(shown ? [shown] : [])]
}
