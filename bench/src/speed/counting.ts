// Counting: a whole conversation for the first time, read or only measured, and then the work before each request of a
// running session.
import { countTokens } from 'everlong'
import { createFold } from 'everlong/internal'
import { createWeigher, situationOf } from 'everlong/internal/compaction'
import { countTokens as gptCount } from 'gpt-tokenizer/encoding/o200k_base'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { estimateTokenCount } from 'tokenx'
import { countTokensApproximately } from '../peers/langchain.ts'
import { loadPi } from '../peers/pi.ts'
import type { Contest } from './contest.ts'
import { conversation, inLangChain, inPi, longestSession, texts, view } from './conversations.ts'

const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((all, item) => all + of(item), 0)

export const countingAll: Contest = {
  name: 'counting',
  what: 'The tokens of a whole conversation that nobody has counted before, by everybody who reads the text.',
  contestants: [
    {
      name: 'Everlong, countTokens',
      side: 'ours',
      ready: (size) => {
        const { messages } = view(size)
        return { run: () => countTokens(messages) }
      },
    },
    {
      name: 'tokenx',
      side: 'peer',
      ready: (size) => {
        const all = texts(size)
        return { run: () => sum(all, estimateTokenCount) }
      },
    },
    {
      name: 'gpt-tokenizer, o200k',
      side: 'peer',
      ready: (size) => {
        const all = texts(size)
        return { run: () => sum(all, (text) => gptCount(text)) }
      },
    },
    {
      name: 'js-tiktoken, o200k',
      side: 'peer',
      ready: (size) => {
        const tokenizer = new Tiktoken(o200k)
        const all = texts(size)
        return { run: () => sum(all, (text) => tokenizer.encode(text, 'all').length) }
      },
    },
    {
      name: 'the limit: byte length of each text',
      side: 'limit',
      ready: (size) => {
        const all = texts(size)
        return { run: () => sum(all, (text) => Buffer.byteLength(text)) }
      },
    },
  ],
}

export const countingLengths: Contest = {
  name: 'counting by length',
  what: 'The same conversation by everybody who divides lengths by four without reading: the documented baseline.',
  contestants: [
    {
      name: "Everlong, countTokens with estimator 'chars/4'",
      side: 'ours',
      ready: (size) => {
        const { messages } = view(size)
        return { run: () => countTokens(messages, { estimator: 'chars/4' }) }
      },
    },
    {
      name: 'LangChain, length / 4',
      side: 'peer',
      ready: (size) => {
        const list = inLangChain(size)
        return { run: () => countTokensApproximately(list) }
      },
    },
    {
      name: 'pi, length / 4',
      side: 'peer',
      ready: async (size) => {
        const { estimateTokens } = await loadPi()
        const entries = inPi(size)
        return { run: () => sum(entries, ({ message }) => estimateTokens(message as never)) }
      },
    },
  ],
}

export const beforeRequest: Contest = {
  name: 'before a request',
  what: 'A call and its result more; then the messages to send, and how full the window is.',
  contestants: [
    {
      name: 'Everlong, fold and situation',
      side: 'ours',
      ready: (size) => {
        const { entries, later } = conversation(size)
        const fold = createFold()
        for (const entry of entries) fold.add(entry)
        const weigher = createWeigher({ model })
        let at = 0
        const run = () => {
          for (const entry of later.slice(at, at + 2)) fold.add(entry)
          at += 2
          const now = fold.view()
          const { explanation } = situationOf(now, {
            now: 1,
            weigher,
            model,
            window: longestSession,
            settings: { contextWindow: longestSession },
          })
          return now.messages.length + explanation.size.tokens
        }
        // The requests before it: the session is running.
        run()
        run()
        return { run }
      },
    },
    {
      name: 'pi, session context and estimate',
      side: 'peer',
      ready: async (size) => {
        const { SessionManager, estimateContextTokens } = await loadPi()
        const session = SessionManager.inMemory()
        for (const { message } of inPi(size)) session.appendMessage(message as never)
        const newest = inPi(size).slice(-2)
        return {
          run: () => {
            for (const { message } of newest) session.appendMessage(message as never)
            return estimateContextTokens(session.buildSessionContext().messages).tokens
          },
        }
      },
    },
    {
      name: 'LangChain, count of the list',
      side: 'peer',
      ready: (size) => {
        const list = [...inLangChain(size)]
        const newest = list.slice(-2)
        return {
          run: () => {
            list.push(...newest)
            return countTokensApproximately(list)
          },
        }
      },
    },
  ],
}

const model = 'claude-opus-4-8'
