// The API that everybody calls: the simulator, which keeps the prompt cache, counts the price and answers requests for a
// summary with the one of the case. Every request to the Messages API gets the same cache marks, whoever sent it.
import { asksForSummary, createSimulator, text, turnableClock } from '@everlong/simulator'
import type { Message } from 'everlong'
import { blocksOf, isObject, type JsonObject, repairRequest } from 'everlong/internal'
import { marked, markOf } from '../cost/marks.ts'

export type World = {
  readonly url: string
  readonly model: string
  readonly system: string
  readonly fetch: typeof fetch
  /** The messages of the last request that did not ask for a summary, as the model got them. */
  readonly sent: () => readonly Message[]
  /** For SDKs that ask for a summary with their own prompt. */
  readonly ask: (prompt: string) => Promise<string>
  /** Requests during this work are answered with the summary. */
  readonly asking: <T>(work: () => Promise<T>) => Promise<T>
  /** Tokens of the last prompt. */
  readonly promptTokens: () => number
  /** The cost of all requests since the last reset. */
  readonly bill: () => Bill
  readonly reset: () => void
}

export type Bill = {
  /** US dollars. */
  readonly price: number
  readonly requests: number
  readonly summaries: number
  /** Requests that the API refused as invalid. They are repaired and sent again. */
  readonly refused: number
}

const model = 'claude-sonnet-4-5'
const url = 'http://simulator'
const betweenRequests = 20_000

/** `isOurs`: our own request for a summary is recognized; other SDKs say when they ask. */
export function createWorld(answer: string, { isOurs }: { readonly isOurs: boolean }): World {
  const clock = turnableClock()
  let last: readonly Message[] = []
  let isAsking = false
  let [summaries, refused] = [0, 0]
  const simulator = createSimulator({
    clock,
    script: (request) => {
      if (isAsking || (isOurs && asksForSummary(request))) {
        summaries++
        return text(answer)
      }
      last = request.messages
      return text('Done.')
    },
  })
  const send: typeof fetch = async (input, init) => {
    clock.turn(betweenRequests)
    const address = String(input)
    if (new URL(address).pathname !== '/v1/messages') return simulator.fetch(address, init)
    const body = JSON.parse(String(init?.body)) as JsonObject
    const response = await simulator.fetch(address, { ...init, body: withMarks(body) })
    if (response.status !== 400) return response
    refused++
    const { messages } = repairRequest(body.messages as readonly Message[])
    return simulator.fetch(address, { ...init, body: withMarks({ ...body, messages }) })
  }
  const asking: World['asking'] = async (work) => {
    isAsking = true
    try {
      return await work()
    } finally {
      isAsking = false
    }
  }
  return {
    url,
    model,
    system: 'You are a careful engineer.',
    fetch: send,
    sent: () => last,
    asking,
    ask: (prompt) => asking(() => answerTo(send, prompt)),
    promptTokens: () => {
      const { input = 0, read = 0, write5m = 0, write1h = 0 } = simulator.log.entries.at(-1)?.samplings.at(-1) ?? {}
      return input + read + write5m + write1h
    },
    bill: () => {
      const { cost, requests } = simulator.meter.totals()
      return { price: cost, requests, summaries, refused }
    },
    reset: () => {
      simulator.meter.reset()
      summaries = 0
      refused = 0
    },
  }
}

async function answerTo(send: typeof fetch, prompt: string): Promise<string> {
  const response = await send(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'none', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model, max_tokens: 8_192, messages: [{ role: 'user', content: prompt }] }),
  })
  const body = (await response.json()) as JsonObject
  const [block] = Array.isArray(body.content) ? body.content : []
  if (!isObject(block)) throw new Error(`The summary was refused: ${JSON.stringify(body)}`)
  return String(block.text)
}

function withMarks(body: JsonObject): string {
  const { cache_control: _, ...rest } = body
  const messages = unmarked(body.messages) as readonly Message[]
  const system = blocksOf(unmarked(body.system) as Message['content']).map((block, at, all) =>
    at === all.length - 1 ? { ...block, cache_control: markOf('5m') } : block,
  )
  return JSON.stringify({
    ...rest,
    ...(system.length === 0 ? {} : { system }),
    messages: marked(messages, '5m'),
  })
}

function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isObject(value)) return value
  const { cache_control: _, ...rest } = value
  return Object.fromEntries(Object.entries(rest).map(([name, own]) => [name, name === 'input' ? own : unmarked(own)]))
}
