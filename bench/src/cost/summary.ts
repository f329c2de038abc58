// The stand-in for a full compaction, the same for every strategy that has none of its own: the model is asked, on the same
// prefix, for a summary, and the summary takes the place of all that was said. To be replaced by the engine's own.
import { type Block, blocksOf, type JsonObject, type Message, textOf } from 'everlong'
import type { Port } from './strategy.ts'

/** What a summary may be long. */
const mostSummary = 4_096

const instruction =
  'Write a summary of this conversation so far, from which the work can go on in a fresh one: what was asked, what is done, what was learned, what comes next. Put it between <summary> and </summary>. Do not call tools.'

/** The summary of these messages, which end with the user's side; undefined when the model gave none. */
export async function summaryOf(port: Port, messages: readonly Message[]): Promise<string | undefined> {
  const last = messages.at(-1)
  if (!last) return undefined
  const asking: Message = { role: 'user', content: [...blocksOf(last.content), { type: 'text', text: instruction }] }
  const answer = await port.ask({ messages: [...messages.slice(0, -1), asking], maxTokens: mostSummary })
  return answer && summaryIn(answer)
}

export function summaryIn(answer: JsonObject): string | undefined {
  const text = textOf(Array.isArray(answer.content) ? (answer.content as readonly Block[]) : [])
  const found = (/<summary>([\s\S]*?)<\/summary>/.exec(text)?.[1] ?? text).trim()
  return found === '' ? undefined : found
}

const opening = 'This conversation is continued from an earlier one that ran out of context. Its summary:'

/** What stands in the place of the conversation; the person's words that are still to be answered stay as they are. */
export function afterSummary(summary: string, pending: Message | undefined): Message {
  const words = blocksOf(pending?.content).filter(({ type }) => type === 'text')
  return { role: 'user', content: [{ type: 'text', text: `${opening}\n\n${summary}` }, ...words] }
}
