// The libraries that are compared: their own code, called over messages in their own shapes before each request, as their
// documentation shows it. What they ask a model for is paid.
import type { ModelMessage } from 'ai'
import type { Message } from 'everlong'
import { repairRequest } from 'everlong/internal'
import { fromModelMessages, prune, toModelMessages } from '../peers/ai-sdk.ts'
import { clearToolUses, fromLangChain, summarizeWith, toLangChain } from '../peers/langchain.ts'
import { tokenLimiter } from '../peers/mastra.ts'
import { fromPi, loadPi, piModel, toPi } from '../peers/pi.ts'
import { answerTo, byList, type ListHooks, sizeOf } from './by-list.ts'
import { thresholdOf } from './setup.ts'
import type { Port, Strategy } from './strategy.ts'

const maxSummary = 4_096

type Summarizing = { readonly trigger: (port: Port) => number; readonly maxToSummarize?: number }

function summarizing(name: string, { trigger, ...options }: Summarizing): Strategy {
  return byList({
    name,
    who: 'LangChain',
    keep: async (messages, { port }) => {
      const answer = (prompt: string) => answerTo(port, prompt, maxSummary)
      const list = toLangChain(messages)
      const kept = await summarizeWith({ tokens: trigger(port), answer, ...options })(list)
      if (kept === list) return messages
      port.note('compaction')
      return fromLangChain(kept)
    },
  })
}

/** The default of its edit. */
const editingTrigger = 100_000

const editing: Strategy = byList({
  name: 'contextEditingMiddleware, defaults',
  who: 'LangChain',
  send: async (messages, { port }) => {
    const list = toLangChain(messages)
    const before = [...list]
    await clearToolUses(list, { trigger: editingTrigger })
    if (list.every((message, at) => message === before[at])) return messages
    port.note('clearing')
    return fromLangChain(list)
  },
})

/** In prepareStep, once the messages are longer than this many tokens by length / 4; what it returns carries forward. */
function pruning(tokens: number): Strategy {
  return byList({
    name: `pruneMessages at ${tokens.toLocaleString('en')}`,
    who: 'AI SDK',
    keep: (messages, { port }) => {
      if (messages.reduce((sum, message) => sum + sizeOf(message), 0) <= tokens * 4) return messages
      port.note('clearing')
      return fromModelMessages(prune(toModelMessages(messages)))
    },
  })
}

const limiting: Strategy = byList({
  name: 'TokenLimiter at the threshold',
  who: 'Mastra',
  start: async ({ setup, system, note }) => {
    const limiter = await tokenLimiter(thresholdOf(setup))
    const first = { role: 'system', content: system } as ModelMessage
    return {
      send: async (messages) => {
        const trimmed = await limiter.processLLMRequest({ prompt: [first, ...toModelMessages(messages)] })
        if (!trimmed) return messages
        note('clearing')
        return fromModelMessages(trimmed.prompt.slice(1))
      },
    }
  },
})

const piSettings = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 }
/** Share of the reserve for the summary. */
const piShare = 0.8

/** Between two turns, once less than its reserve is left of the window. */
const pi: Strategy = byList({ name: 'compaction, defaults', who: 'pi', start: piHooks })

async function piHooks(port: Port): Promise<ListHooks> {
  const { SessionManager, prepareCompaction, compact } = await loadPi()
  const model = await piModel((prompt) => answerTo(port, prompt, Math.floor(piSettings.reserveTokens * piShare)))
  let session = SessionManager.inMemory()
  let known: readonly Message[] = []
  const follow = (messages: readonly Message[]) => {
    const isSame = known.every((message, at) => message === messages[at])
    // A repair after a refusal makes another conversation.
    if (!isSame) session = SessionManager.inMemory()
    for (const message of toPi(isSame ? messages.slice(known.length) : messages)) session.appendMessage(message)
    known = messages
  }
  return {
    keep: async (messages, { used, beginsTurn }) => {
      follow(messages)
      if (!beginsTurn || used <= port.setup.window - piSettings.reserveTokens) return messages
      const preparation = prepareCompaction(session.getBranch(), piSettings)
      if (preparation === undefined) return messages
      const { summary, firstKeptEntryId, tokensBefore, details } = await compact(preparation, model.ready(), 'none')
      session.appendCompaction(summary, firstKeptEntryId, tokensBefore, details)
      port.note('compaction')
      known = repairRequest(fromPi(session.buildSessionContext().messages)).messages
      return known
    },
  }
}

const summarizingAt = (tokens: number): Strategy =>
  summarizing(`summarizationMiddleware at ${tokens.toLocaleString('en')}`, { trigger: () => tokens })

/** By default its model sees the newest 4,000 tokens of what is summarized and nothing else; a host can lift that. */
const readingAll = (tokens: number): Strategy =>
  summarizing(`summarizationMiddleware at ${tokens.toLocaleString('en')}, reading all`, {
    trigger: () => tokens,
    maxToSummarize: tokens * 2,
  })

const triggers = [80_000, 60_000, 40_000]

/** Below 50,000 so low that calls and results go in the middle of the turn that works with them. */
export const pruned: readonly Strategy[] = [50_000, 30_000, 20_000, 12_000].map(pruning)

/** With their trigger where a host would look for the cheapest, as their documentation names no size; and forgetting little. */
export const careful: readonly Strategy[] = [...triggers.map(readingAll), pruning(100_000), ...pruned.slice(0, 1)]

const leaders: readonly Strategy[] = [...careful, ...pruned.slice(1), ...triggers.map(summarizingAt)]

export const peers: readonly Strategy[] = [
  summarizing('summarizationMiddleware at the threshold', { trigger: ({ setup }) => thresholdOf(setup) }),
  editing,
  ...leaders,
  pi,
  limiting,
]
