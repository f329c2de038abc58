// Two peers whose code cannot be called as a function over messages, or weighs more than this whole house: their documented
// rules, written by us. pi: summarise between turns once less than 16,384 tokens are left, keep the newest 20,000. Mastra's
// token limiter: the newest rounds that fit under the limit, before every request, for good.
import { blocksOf, createWeigher, isToolResult, type Message, repairRequest, textOf } from 'everlong'
import { byList, sizeOf } from '../by-list.ts'
import { thresholdOf } from '../setup.ts'
import type { Port, Strategy } from '../strategy.ts'

const reserve = 16_384
const keepRecent = 20_000

/** Flattened to text under a prompt of its own, long results cut: nothing of the cached prefix is read. */
async function flatSummary(port: Port, messages: readonly Message[]): Promise<string | undefined> {
  const lines = messages.flatMap(({ role, content }) =>
    blocksOf(content).map((block) => {
      if (isToolResult(block)) return `[result] ${textOf(block.content).slice(0, 2_000)}`
      return `[${role}] ${block.type === 'tool_use' ? JSON.stringify(block) : textOf([block])}`
    }),
  )
  const text = `Write a summary of this conversation.\n<conversation>\n${lines.join('\n')}\n</conversation>`
  const asked = { alone: true, messages: [{ role: 'user', content: [{ type: 'text', text }] }] } as const
  const answer = await port.ask({ ...asked, maxTokens: Math.floor(reserve * 0.8) })
  return answer && textOf(answer.content as never)
}

/** The newest messages of so many tokens by length / 4, beginning where no call is parted from its result. */
function recent(messages: readonly Message[]): number {
  let tokens = 0
  for (let at = messages.length - 1; at > 0; at--) {
    const message = messages[at]
    if (!message) continue
    tokens += sizeOf(message) / 4
    const canBegin = message.role === 'assistant' || !blocksOf(message.content).some(isToolResult)
    if (tokens >= keepRecent && canBegin) return at
  }
  return 0
}

const pi: Strategy = byList({
  name: 'its rule, retold',
  who: 'pi',
  keep: async (messages, { used, port, beginsTurn }) => {
    if (!beginsTurn || used <= port.setup.window - reserve) return messages
    const from = recent(messages)
    const summary = from > 0 ? await flatSummary(port, messages.slice(0, from)) : undefined
    if (summary === undefined) return messages
    port.note('compaction')
    const told: Message = {
      role: 'user',
      content: [{ type: 'text', text: `The conversation before was summarised:\n${summary}` }],
    }
    return repairRequest([told, ...messages.slice(from)]).messages
  },
})

/** It counts by tokenx, which is about right; so is this. Whole by length / 4 it would overflow first. */
const counter = createWeigher()

const mastra: Strategy = byList({
  name: 'TokenLimiter at the threshold, retold',
  who: 'Mastra',
  keep: (messages, { port }) => {
    const limit = thresholdOf(port.setup)
    const rounds = roundsOf(messages)
    let tokens = 0
    const kept = rounds.toReversed().filter((round) => {
      const size = round.reduce((sum, message) => sum + counter.message(message), 0)
      if (tokens + size > limit) return false
      tokens += size
      return true
    })
    if (kept.length === rounds.length) return messages
    port.note('clearing')
    return repairRequest(kept.toReversed().flat()).messages
  },
})

/** An answer and its results are one message there. */
function roundsOf(messages: readonly Message[]): readonly (readonly Message[])[] {
  const rounds: Message[][] = []
  for (const message of messages) {
    const belongs = message.role === 'user' && blocksOf(message.content).some(isToolResult)
    if (belongs) rounds.at(-1)?.push(message)
    else rounds.push([message])
  }
  return rounds
}

export const retold: readonly Strategy[] = [pi, mastra]
