// The one summarizer of the rounds: the simulator's, which reads messages by plain rules and always the same way. Everybody
// gets it, over whatever messages they chose to show it.
import { asksForSummary, summarizer } from '@everlong/simulator'
import { estimateTokens, type Message } from 'everlong'
import { isText } from 'everlong/internal'

/** What a summary may be long, for everybody. */
export const maxSummary = 4_096

const script = summarizer({ budget: maxSummary })

const asking: Message = {
  role: 'user',
  content: [{ type: 'text', text: 'Write a summary of the conversation so far.' }],
}

/** Of these messages; where the last of them asks for a summary already, that is the question. */
export async function summaryOf(messages: readonly Message[]): Promise<string> {
  const asked = asksForSummary({ messages }) ? messages : [...messages, asking]
  const request = { model: 'summarizer', maxTokens: maxSummary, system: '', tools: [], messages: asked }
  const answer = await script(request, { turn: 0, random: () => 0, countTokens: estimateTokens })
  const text = answer.content
    .filter(isText)
    .map((block) => block.text)
    .join('\n')
  return /<summary>([\s\S]*)<\/summary>/.exec(text)?.[1]?.trim() ?? text
}
