// A loop of one's own on the OpenAI SDK for the contract of adapters, over the Responses API. Nothing is stored on the server:
// reasoning comes sealed and is sent back with the history.
import { everlong, openai } from 'everlong/openai'
import OpenAI from 'openai'
import { type Adapter, type AgentInput, type Said, storedLists } from './contract.ts'

export const responsesAdapter: Adapter = { name: 'Responses API', recovers: true, start }

type Item = OpenAI.Responses.ResponseInputItem

async function start({ url, model, settings, isManaged, system: instructions, read, storage }: AgentInput) {
  const baseURL = `${url}/v1`
  const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 5 })
  const summaries = openai({ model, apiKey: 'none', baseURL })
  const { responses, sessions, close } = everlong({ model: summaries, settings })
  const number = { type: 'number' }
  const parameters = { type: 'object', properties: { module: number, part: number } }
  const tools: OpenAI.Responses.FunctionTool[] = [{ type: 'function', name: 'read', parameters, strict: false }]
  const lists = storedLists<Item>(storage)
  const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content']
  const sendWith =
    (called: string, signal: AbortSignal | undefined) =>
    ({ messages: input }: { readonly messages: Item[] }) => {
      const params = { model: called, instructions, tools, input, store: false, include }
      return client.responses.create(params, signal ? { signal } : {})
    }
  return {
    say: async (said: Said) => {
      const input = lists.of(said.conversation)
      input.push({ type: 'message', role: 'user', content: contentOf(said) })
      const called = said.model ?? model
      const send = sendWith(called, said.signal)
      const call = { model: called, instructions, tools, ...(said.signal ? { signal: said.signal } : {}) }
      for (;;) {
        const response = await (isManaged ? responses(input, call, send) : send({ messages: input }))
        input.push(...(response.output as Item[]))
        const calls = response.output.filter((item) => item.type === 'function_call')
        if (calls.length === 0) return response.output_text
        for (const { call_id, arguments: given } of calls) {
          input.push({ type: 'function_call_output', call_id, output: read(JSON.parse(given)) })
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

function contentOf({ text, image }: Said): OpenAI.Responses.ResponseInputContent[] {
  const image_url = `data:image/png;base64,${image}`
  const shown = image === undefined ? [] : [{ type: 'input_image' as const, image_url, detail: 'auto' as const }]
  return [{ type: 'input_text', text }, ...shown]
}
