// The Anthropic SDK's tool runner, compacting a conversation by its own code. Nobody is asked: whoever calls answers the
// request for a summary as the server would.
import Anthropic from '@anthropic-ai/sdk'
import type { Message } from 'everlong'
import { blocksOf } from 'everlong/internal'

const model = 'claude-sonnet-5'

type Asked = { readonly messages: readonly Message[]; readonly compaction?: unknown }

/** The history that the runner continues with. A summary that it kept from an earlier compaction is shown as text. */
export async function compactWithRunner(
  messages: readonly Message[],
  answer: (messages: readonly Message[]) => string | Promise<string>,
): Promise<readonly Message[]> {
  const client = new Anthropic({
    apiKey: 'none',
    maxRetries: 0,
    fetch: async (_, init) => {
      const { messages: sent, compaction } = JSON.parse(String(init?.body)) as Asked
      const done = { type: 'text', text: 'Done.' }
      const block = compaction === undefined ? done : { type: 'compaction', content: await answer(sent.map(asText)) }
      return Response.json(messageOf(block))
    },
  })
  const runner = client.beta.messages.toolRunner({
    model,
    max_tokens: 4_096,
    messages: [...messages] as never,
    tools: [],
    max_iterations: 1,
  })
  runner.compactBeforeNextTurn()
  let left: readonly Message[] = messages
  for await (const message of runner) {
    // The turn after the compaction: what was sent for it is what was left.
    if (!message.content.some(({ type }) => type === 'compaction')) left = runner.params.messages as never
  }
  return left.map(asText)
}

function messageOf(block: object): object {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const who = { id: 'msg_0', type: 'message', role: 'assistant', model }
  return { ...who, content: [block], stop_reason: 'end_turn', stop_sequence: null, usage }
}

function asText({ role, content }: Message): Message {
  const blocks = blocksOf(content).map((block) =>
    block.type === 'compaction' ? { type: 'text', text: String(block.content) } : block,
  )
  return { role, content: blocks }
}
