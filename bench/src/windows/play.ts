// One session of 200 turns against the simulator, with a model of a given window. The server counts the prompt and the output
// limit together, as most servers of local models do, and refuses what does not fit.
import { asksForSummary, createSimulator, type LogEntry, summarizer } from '@everlong/simulator'
import { type Block, countTokens, createEngine, type Message } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { blocksOf, isToolResult, textOf } from 'everlong/internal'
import type { PlantedFact } from '../rounds/facts.ts'
import { isIn, wordsOf } from '../rounds/measure.ts'
import { madeUpTurns } from '../rounds/session.ts'

export type Played = {
  readonly window: number
  readonly threshold: number
  readonly blocking: number
  /** The largest prompt that was answered, as the server counted it. */
  readonly largest: number
  readonly requests: number
  readonly refused: number
  readonly compactions: number
  /** Tokens of the contexts right after the compactions, on average, without system prompt and tools. */
  readonly after: number
  readonly rules: readonly [kept: number, planted: number]
  readonly facts: readonly [kept: number, planted: number]
  /** Of the facts of the last 20 turns. */
  readonly recent: readonly [kept: number, planted: number]
  /** In the context, or among the ten best matches of a search. */
  readonly recalled: number
}

export const turnCount = 200
const factCount = 40
const recentTurns = 20
const model = 'local-model'
const maxTokens = 2_048

const system = `You are a coding agent in the repository of a shop. ${'Read a file before you change it, keep changes small, run the tests after each change, and report briefly. '.repeat(8)}`
const tools = ['Read', 'Edit', 'Bash'].map((name) => ({
  name,
  description: `${name} of the workspace. The input names the file or the command, and the result is its output.`,
  input_schema: { type: 'object', properties: { file_path: { type: 'string' }, command: { type: 'string' } } },
}))

export async function play(window: number): Promise<Played> {
  const { simulator, says } = server(window)
  const client = anthropic({ model, apiKey: 'none', baseURL: 'http://simulator', fetch: simulator.fetch })
  const engine = createEngine({ model: client, environment: {}, settings: { sessionMemory: false, recall: true } })
  const session = await engine.start({ system, tools, maxTokens })
  const after: number[] = []
  const turns = madeUpTurns(turnCount, factCount)
  for (const { messages } of turns) {
    for (const message of messages) {
      if (message.role === 'user') {
        session.add(withLongResult(message, window))
        continue
      }
      says(message)
      const sent = await session.send()
      if (sent.type !== 'answered') throw new Error(`A turn in a window of ${window} was not answered: ${sent.type}`)
      if (sent.prepared.compaction) after.push(countTokens(sent.prepared.messages))
    }
  }
  const shown = wordsOf(session.messages())
  const planted = turns.flatMap(({ fact }, at) => (fact ? [{ fact, at }] : []))
  const kept = (among: readonly PlantedFact[]) =>
    [among.filter((fact) => isIn(fact, shown)).length, among.length] as const
  let recalled = 0
  for (const { fact } of planted) {
    const found = await session.recall(fact.question, { limit: 10 })
    const texts = found.matches.map((match) => JSON.stringify(match))
    if (isIn(fact, shown) || texts.some((text) => isIn(fact, text))) recalled++
  }
  const { autoCompactThreshold, blocking } = session.explain()
  await session.close()
  const all = planted.map(({ fact }) => fact)
  return {
    window,
    threshold: autoCompactThreshold.value,
    blocking: blocking.value,
    ...countsIn(simulator.log.entries),
    compactions: after.length,
    after: Math.round(after.reduce((sum, tokens) => sum + tokens, 0) / Math.max(1, after.length)),
    rules: kept(all.filter(({ kind }) => kind === 'constraint')),
    facts: kept(all),
    recent: kept(planted.filter(({ at }) => at >= turnCount - recentTurns).map(({ fact }) => fact)),
    recalled,
  }
}

/** An agent with a larger window reads more at once: a result has about a thirtieth of the window. */
function withLongResult(message: Message, window: number): Message {
  const lines = Math.floor(window / 30 / 14)
  const more = Array.from({ length: lines }, (_, at) => `${at + 1}\texport const slot${at} = readSlot(${at}, depth)`)
  const content = blocksOf(message.content).map((block) =>
    isToolResult(block) ? { ...block, content: [textOf(block.content), ...more].join('\n') } : block,
  )
  return { ...message, content }
}

/** Answers what `says` was given last; requests for a summary go to the simulator's summarizer. */
function server(window: number) {
  let next: Message['content'] = ''
  const summaries = summarizer()
  const simulator = createSimulator({
    script: (request, context) => {
      if (asksForSummary(request)) return summaries(request, context)
      const content: readonly Block[] = typeof next === 'string' ? [{ type: 'text', text: next }] : next
      return { content, stopReason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn' }
    },
    models: [
      {
        id: model,
        window,
        maxOutput: Math.min(4_096, window),
        tokenizer: 'openai',
        cacheMinimum: 1_024,
        bindsThinking: false,
        thinking: 'none',
        thinksUnasked: false,
        hidesThinking: false,
        defaultEffort: 'high',
        keepsThinking: false,
        endsAtWindow: false,
        takesPrefill: true,
        takesSystemMessages: true,
        compaction: 'none',
      },
    ],
  })
  return {
    simulator,
    says: ({ content }: Message) => {
      next = content
    },
  }
}

function countsIn(entries: readonly LogEntry[]) {
  const messages = entries.filter(({ endpoint }) => endpoint === '/v1/messages')
  const prompts = messages.flatMap(({ samplings }) =>
    samplings.map(({ read, write5m, write1h, input }) => read + write5m + write1h + input),
  )
  return {
    requests: messages.length,
    refused: messages.filter(({ status }) => status >= 400).length,
    largest: Math.max(0, ...prompts),
  }
}
