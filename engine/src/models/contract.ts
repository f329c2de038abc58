// Tests any model client, ours or a host's: sends requests, aborts some, provokes failures, and reports broken promises.

import { deepFrozen } from '../core/message/json.ts'
import { isBlock, isText } from '../core/message/message.ts'
import type {
  AbortSignalPort,
  FailureReason,
  ModelAnswer,
  ModelClient,
  ModelFailure,
  ModelRequest,
  StreamEvent,
} from '../core/ports/model.ts'

export type ModelContractInput = {
  readonly client: ModelClient
  /** A request that the client answers with text. */
  readonly request: ModelRequest
  /** Requests that fail, and how. */
  readonly failing?: readonly {
    readonly client?: ModelClient
    readonly request: ModelRequest
    readonly reason: FailureReason
  }[]
  /** Bodies sent so far, if the client uses a network. */
  readonly sent?: () => readonly string[]
}

export type ModelContractReport = {
  /** Broken promises as sentences. Empty if the contract is kept. */
  readonly broken: readonly string[]
  readonly answer: ModelAnswer | ModelFailure
}

type Must = (isKept: boolean, promise: string) => void

export async function runModelContract(input: ModelContractInput): Promise<ModelContractReport> {
  const broken: string[] = []
  const must: Must = (isKept, promise) => {
    if (!isKept) broken.push(promise)
  }
  const request = deepFrozen(structuredClone(input.request))
  const answer = await checkAnswer(input.client, request, must)
  await checkSameness(input, request, must)
  await checkAborts(input, request, must)
  for (const { client = input.client, request: wrong, reason } of input.failing ?? []) {
    const failure = await client.send(deepFrozen(structuredClone(wrong)))
    const said = failure.type === 'failed' ? failure.reason : failure.type
    must(said === reason, `a request that is ${reason} fails as such, not as ${said}`)
    must(failure.type !== 'failed' || failure.message !== '', `a failure (${reason}) says something`)
  }
  return { broken, answer }
}

async function checkAnswer(client: ModelClient, request: ModelRequest, must: Must) {
  const events: StreamEvent[] = []
  const signal = watchedSignal()
  const answer = await client.send(request, { signal, onEvent: (event) => events.push(event) })
  must(signal.listeners() === 0, 'nobody listens to the signal after the answer')
  must(same(client.capabilities(request.model), client.capabilities(request.model)), 'capabilities are data')
  if (answer.type === 'failed') {
    must(false, `the request is answered, not failed: ${answer.reason}, ${answer.message}`)
    return answer
  }
  checkShape(answer, must)
  checkEvents(answer, events, must)
  return answer
}

function checkShape({ id, model, content, stopReason, usage, extra }: ModelAnswer, must: Must): void {
  must(id !== '' && model !== '' && stopReason !== '', 'an answer has an id, a model and a stop reason')
  must(content.length > 0 && content.every(isBlock), 'the content is blocks')
  const counts = [usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.cacheWriteHour]
  const areCounts = counts.every((count) => Number.isInteger(count) && count >= 0)
  must(areCounts, 'usage is whole numbers, none below zero')
  must(same(extra, extra === undefined ? undefined : JSON.parse(JSON.stringify(extra))), 'the rest is plain data')
}

function checkEvents({ content }: ModelAnswer, events: readonly StreamEvent[], must: Must): void {
  const streamed = events.flatMap((event) => (event.type === 'text' ? event.text : [])).join('')
  const text = content.flatMap((block) => (isText(block) ? block.text : [])).join('')
  must(streamed === text, 'the streamed text is the text of the answer')
  const progress = events.flatMap((event) => (event.type === 'progress' ? event.outputTokens : []))
  must(progress.length > 0 && (progress.at(-1) ?? 0) > 0, 'progress is reported')
  const isRising = progress.every((tokens, index) => tokens >= (progress[index - 1] ?? 0))
  must(isRising, 'progress does not go back')
}

async function checkSameness({ client, sent }: ModelContractInput, request: ModelRequest, must: Must): Promise<void> {
  if (sent === undefined) return
  const before = sent().length
  await client.send(request)
  await client.send(deepFrozen(structuredClone(request)))
  const [first, second, ...more] = sent().slice(before)
  must(first !== undefined && first === second && more.length === 0, 'the same request is the same bytes')
}

async function checkAborts({ client, sent }: ModelContractInput, request: ModelRequest, must: Must): Promise<void> {
  const early = watchedSignal()
  early.abort()
  const before = sent?.().length
  const events: StreamEvent[] = []
  const never = await client.send(request, { signal: early, onEvent: (event) => events.push(event) })
  must(isAborted(never) && events.length === 0, 'aborted before it began, it says so and streams nothing')
  must(sent?.().length === before, 'aborted before it began, it sends nothing')
  const signal = watchedSignal()
  const after: StreamEvent[] = []
  const cut = await client.send(request, {
    signal,
    onEvent: (event) => {
      if (signal.aborted) after.push(event)
      signal.abort()
    },
  })
  must(isAborted(cut), 'aborted in the middle, it says so')
  must(after.length === 0, 'aborted in the middle, it streams nothing more')
  must(signal.listeners() === 0, 'nobody listens to the signal after an abort')
}

function isAborted(result: ModelAnswer | ModelFailure): boolean {
  return result.type === 'failed' && result.reason === 'aborted'
}

/** Has only what core promises of a signal, and records its listeners. */
function watchedSignal(): AbortSignalPort & { readonly abort: () => void; readonly listeners: () => number } {
  const listeners = new Set<() => void>()
  let aborted = false
  return {
    get aborted() {
      return aborted
    },
    addEventListener: (_, listener) => listeners.add(listener),
    removeEventListener: (_, listener) => listeners.delete(listener),
    abort: () => {
      aborted = true
      for (const listener of [...listeners]) listener()
    },
    listeners: () => listeners.size,
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
