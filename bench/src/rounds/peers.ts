// The peers in the rounds, each by its own code (Cline and Codex by their rules, in our words) and with the same summarizer; plain
// truncation beside them.
import { countTokens, type Message } from 'everlong'
import { blocksOf, isText, isToolResult, textOf } from 'everlong/internal'
import { compactWithRunner } from '../peers/anthropic.ts'
import { clineCut, clineKeeps, clineSummary } from '../peers/cline.ts'
import { codexHistory } from '../peers/codex.ts'
import { summarizeWith, toLangChain } from '../peers/langchain.ts'
import { fromPi, loadPi, piModel, toPi } from '../peers/pi.ts'
import { type Contender, contextWindow, type Keeper, threshold, userText } from './contender.ts'
import { summaryOf } from './summarize.ts'

/** A list of messages that is replaced by a shorter one. */
function byList(
  shorter: (messages: readonly Message[]) => Promise<readonly [readonly Message[], string | undefined]>,
): Keeper {
  let list: readonly Message[] = []
  return {
    add: (messages) => {
      list = [...list, ...messages]
    },
    context: () => list,
    compact: async () => {
      const [next, summary] = await shorter(list)
      list = next
      return summary
    },
  }
}

const truncation: Contender = {
  name: 'the newest half, without a summary',
  how: 'the oldest turns go until half of the threshold is left',
  open: () =>
    byList(async (messages) => {
      let from = 0
      while (from < messages.length && countTokens(messages.slice(from)) > threshold / 2) from++
      while (from < messages.length && !isHuman(messages[from])) from++
      return [messages.slice(from), undefined]
    }),
}

const isHuman = (message: Message | undefined): boolean =>
  message?.role === 'user' && !blocksOf(message.content).some(isToolResult)

const sdkRunner: Contender = {
  name: 'Anthropic SDK runner',
  how: 'toolRunner with compactBeforeNextTurn: one summary in the place of everything',
  open: () =>
    byList(async (messages) => {
      let summary: string | undefined
      const left = await compactWithRunner(messages, async (shown) => {
        summary = await summaryOf(shown)
        return summary
      })
      return [left, summary]
    }),
}

function langchain(name: string, options: { readonly maxToSummarize?: number }): Contender {
  return {
    name,
    how: 'summarizationMiddleware, newest 20 messages kept',
    open: () =>
      byList(async (messages) => {
        let summary: string | undefined
        const answer = async (prompt: string) => {
          summary = await summaryOf(shownIn(messages, prompt))
          return summary
        }
        const list = toLangChain(messages)
        const kept = await summarizeWith({ tokens: 1, ...options, answer })(list)
        const tail = messages.slice(messages.length - inOurs(messages, kept.length - 1))
        return [[userText(textOf(kept[0]?.content as never)), ...tail], summary]
      }),
  }
}

/** How many of our newest messages make this many of theirs: each result is a message there. */
function inOurs(messages: readonly Message[], count: number): number {
  let [left, taken] = [count, 0]
  for (const message of messages.toReversed()) {
    const made = toLangChain([message]).length
    if (made > left) break
    left -= made
    taken++
  }
  return taken
}

/** The messages whose words are in the prompt: what the middleware let its model see. */
function shownIn(messages: readonly Message[], prompt: string): readonly Message[] {
  return messages.filter(({ content }) =>
    blocksOf(content).some((block) => {
      const text = isText(block)
        ? block.text
        : isToolResult(block)
          ? textOf(block.content)
          : JSON.stringify(block.input)
      return prompt.includes(text.slice(0, 200)) || prompt.includes(JSON.stringify(text).slice(1, 200))
    }),
  )
}

const pi: Contender = {
  name: 'pi',
  how: 'prepareCompaction and compact, newest 20,000 tokens kept',
  open: async () => {
    const { SessionManager, prepareCompaction, compact } = await loadPi()
    const session = SessionManager.inMemory()
    const asked: (readonly Message[])[] = []
    const model = await piModel(() => summaryOf(asked.shift() ?? []))
    const settings = { enabled: true, reserveTokens: contextWindow - threshold, keepRecentTokens: 20_000 }
    return {
      add: (messages) => {
        for (const message of toPi(messages)) session.appendMessage(message)
      },
      context: () => fromPi(session.buildSessionContext().messages),
      compact: async () => {
        const preparation = prepareCompaction(session.getBranch(), settings)
        if (preparation === undefined) throw new Error('pi has nothing to compact.')
        const { previousSummary, messagesToSummarize, turnPrefixMessages } = preparation
        const before = typeof previousSummary === 'string' ? [userText(previousSummary)] : []
        asked.length = 0
        if (messagesToSummarize.length > 0) asked.push([...before, ...fromPi(messagesToSummarize)])
        if (turnPrefixMessages.length > 0) asked.push(fromPi(turnPrefixMessages))
        const { summary, firstKeptEntryId, tokensBefore, details } = await compact(preparation, model.ready(), 'none')
        session.appendCompaction(summary, firstKeptEntryId, tokensBefore, details)
        return summary
      },
    }
  },
}

const cline: Contender = {
  name: 'rule of Cline, in our words',
  how: 'newest 20,000 tokens kept, before them the summary and the files that were read and changed',
  open: () =>
    byList(async (messages) => {
      const cut = clineCut(messages, clineKeeps)
      const folded = messages.slice(0, cut)
      const summary = await summaryOf(folded)
      return [[userText(clineSummary(summary, folded)), ...messages.slice(cut)], summary]
    }),
}

const codex: Contender = {
  name: 'rule of Codex, in our words',
  how: 'what people typed, at most 20,000 tokens of it, and one summary in the place of everything else',
  open: () => {
    const typed: string[] = []
    let list: readonly Message[] = []
    return {
      add: (messages) => {
        typed.push(...messages.filter(isHuman).map(({ content }) => textOf(content)))
        list = [...list, ...messages]
      },
      context: () => list,
      compact: async () => {
        const summary = await summaryOf(list)
        list = codexHistory(typed, summary).map(userText)
        return summary
      },
    }
  },
}

export const peers: readonly Contender[] = [
  pi,
  langchain('LangChain, as it comes', {}),
  langchain('LangChain, the model sees everything', { maxToSummarize: 1_000_000 }),
  sdkRunner,
  cline,
  codex,
  truncation,
]
