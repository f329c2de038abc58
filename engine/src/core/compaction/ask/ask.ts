// Asks a model for a summary: with the conversation's cache, directly, without the oldest rounds, or in windows. Writing a
// summary without a model is up to the caller.
import { cachePrices, modelFacts } from '../../catalog/models.ts'
import { isToolResult, isToolUse, type Message, textOf } from '../../message/message.ts'
import type { ModelRequest, Overflow } from '../../ports/model.ts'
import { type Failed, failed } from '../../ports/outcome.ts'
import { carriedText, clearedResultsText, partBegins, shorterPrompt, summaryPrompt } from '../../prompts/summary.ts'
import { withoutMiddle } from '../../text/cut.ts'
import { countTokens } from '../../tokens/estimate/counting.ts'
import { messageOf } from '../../transcript/format/messages.ts'
import type { CompactionRun } from '../history.ts'
import { type Asking, ask, note, type Summary } from './asker.ts'
import {
  directRequest,
  gapOf,
  onDemandRequest,
  type PreparedMessage,
  preparedMessages,
  requestUpTo,
  sharingRequest,
  shorterRequest,
  truncated,
  windowsOf,
  withFoldedIn,
} from './request.ts'

export type Question = {
  readonly instructions: string
  /** Tokens that a summary may have. If it is longer, the model is asked once for a shorter one. */
  readonly availableTokens: number
}

type AskContext = Question & {
  readonly run: CompactionRun
  readonly weigh: (message: Message) => number
  readonly countText: (text: string) => number
  readonly prompt: string
  /** Output limit of the answer. */
  readonly maxTokens: number
}

const maxSummaryOutput = 20_000

/**
 * Factor for a count, if the answers of this conversation show that we count too few tokens. In small windows nothing else is
 * known, because their turns are too small to calibrate with.
 */
function correctionOf({ job, plan }: CompactionRun): number {
  return plan.model === job.conversation?.model ? Math.max(1, job.scale.perToken) : 1
}

/**
 * The size that the provider would report for messages that we count as `weight`. Answers also show a constant difference. It
 * belongs to the messages if everything else in the request, system prompt and tools, is known and counted.
 */
function reportedSize(run: CompactionRun, weight: number): number {
  const { overhead = 0, scale } = run.job
  const corrected = weight * correctionOf(run)
  const isKnown = overhead > 0 && run.plan.model === run.job.conversation?.model
  return isKnown ? Math.max(corrected, scale.toReported(weight + overhead) - overhead) : corrected
}

export async function askForSummary(run: CompactionRun, question: Question): Promise<Summary | Failed> {
  const { model } = run.plan
  const counting = { ...run.job.counting, model }
  const weigh = (message: Message) => countTokens([message], counting)
  const countText = (text: string) => weigh({ role: 'user', content: text })
  const maxOutput = run.ports.model.capabilities(model).maxOutput ?? modelFacts(model)?.maxOutput ?? maxSummaryOutput
  const maxTokens = Math.min(maxSummaryOutput, maxOutput)
  const work = { ...question, run, weigh, countText, prompt: promptOf(run, question), maxTokens }
  const { prompt } = work
  const { mechanisms } = run.plan
  const conversation = mechanisms.includes('cache-sharing') ? ownRequest(run) : undefined
  if (!conversation) return askDirectly(work)
  if (mechanisms.includes('server-compaction')) {
    const request = onDemandRequest(conversation, prompt)
    const served = await askIn(work, { mechanism: 'server-compaction', request })
    if (served.type === 'summary' || served.reason === 'aborted') return served
  }
  const request = sharingRequest(conversation, prompt, clearedResults(work))
  const shared = await askIn(work, { mechanism: 'cache-sharing', request })
  if (shared.type === 'summary') return shortEnough(work, shared)
  if (shared.reason === 'aborted') return shared
  return askDirectly(work, isTooLong(shared) ? { overflow: shared.overflow, wasOwn: true } : undefined)
}

function isTooLong({ reason }: Failed): boolean {
  return reason === 'prompt-too-long'
}

/** By default asks once, about everything that is summarized. */
function askIn(
  { run, prompt, countText }: AskContext,
  asking: Pick<Asking, 'mechanism' | 'request'> & Partial<Asking>,
) {
  const sourceTokens = run.plan.tokens.summarized
  return ask(run, { prompt, sourceTokens, sends: 1, countTokens: countText, ...asking })
}

/** For up-to, the request ends at the cut if the conversation has the same messages as the view. Otherwise the cache is useless. */
function ownRequest({ job: { conversation, view }, plan: { parts } }: CompactionRun): ModelRequest | undefined {
  if (!conversation || parts.variant !== 'up-to') return conversation
  const isView = conversation.messages.length === view.messages.length
  return isView && parts.cutMessage !== undefined ? requestUpTo(conversation, parts.cutMessage) : undefined
}

type Window = { readonly number: number; readonly of: number }

function promptOf(
  { plan, ports }: CompactionRun,
  { instructions }: Pick<Question, 'instructions'>,
  window?: Window,
): string {
  const { variant, summarized } = plan.parts
  const texts = variant === 'from' ? summarized.map(({ content }) => textOf(content).trim()) : []
  const begins = texts.find((text) => text !== '')?.slice(0, 120)
  const { summaryPrompt: own } = ports
  const all = typeof own === 'string' ? [own, instructions].join('\n\n') : instructions
  const prompt = summaryPrompt({ variant, instructions: all, maxTokens: plan.tokens.summary, begins, window })
  return (typeof own === 'function' && own(prompt)) || prompt
}

const whatToDo =
  'Compact up to an earlier message, remove something large, go back a few messages, or let a model with a larger window summarize.'
const maxRetries = 3
const sendsEach = 3

/** Our count of a whole request and the provider's differ by up to this share of the window. */
const countError = 0.03

/** The provider's answer. The conversation's own request is larger than a direct one, which may fit unchanged. */
type TooLong = { readonly overflow: Overflow | undefined; readonly wasOwn?: boolean }

/** Sends a direct request, and drops more and more of the oldest rounds if it is too long. */
async function askDirectly(work: AskContext, sharing?: TooLong): Promise<Summary | Failed> {
  const { run, prompt } = work
  const { model } = run.plan
  let left = opening(work)
  let dropped: readonly PreparedMessage[] = []
  let tooLong = sharing
  for (let retries = 0; ; ) {
    const { window, room, fold, output } = limitsOf(work, tooLong?.overflow, weightOf(work, left))
    // Does not send a request that cannot fit by our own count. After a refusal it drops the rounds above the limit, unless that
    // would be most of them.
    const max = tooLong ? 2 * window : (room ?? 0) + fold - window * countError
    if (room !== undefined && weightOf(work, left) > max) {
      return inWindows(work, left, { room, output })
    }
    const next = tooLong && lessOf(work, left, tooLong)
    if (next === 'only-one') {
      if (room !== undefined) return inWindows(work, left, { room, output })
      const why = `One round alone does not fit the summarizer’s window. ${whatToDo}`
      return failed('prompt-too-long', why)
    }
    if (next) {
      if (++retries > maxRetries) break
      left = next.left
      dropped = [...dropped, ...next.dropped]
      run.ports.emit({ type: 'prompt-too-long-retried', attempt: retries, ...next.groups })
    }
    const mechanism = dropped.length > 0 ? 'direct-truncated' : 'direct'
    const messages = withFoldedIn({ left, dropped }, { countTokens: work.countText, tokens: fold })
    const request = directRequest({ model, messages, prompt, maxTokens: output })
    const asked = await askIn(work, { mechanism, request, sends: sendsEach })
    if (asked.type === 'summary') return shortEnough(work, asked)
    if (!isTooLong(asked)) return asked
    tooLong = { overflow: asked.overflow }
  }
  const why = `The conversation was too long for the summarizer ${maxRetries + 1} times, with less of it each time. ${whatToDo}`
  note(run, { mechanism: 'direct-truncated', outcome: 'failed', why, reason: 'prompt-too-long' })
  return failed('prompt-too-long', why)
}

/** Messages that stay in the context. The summarizer sees them as background if there is room. */
function opening(work: AskContext): readonly PreparedMessage[] {
  const { summarized, kept, variant } = work.run.plan.parts
  const { room: all, window } = limitsOf(work)
  const prepared = preparedMessages(summarized)
  const recent =
    all === undefined ? prepared : withOriginals(work, prepared, { free: all - weightOf(work, prepared), window })
  const retained = preparedMessages(variant === 'from' ? kept : [])
  if (retained.length === 0) return recent
  const { room = Number.POSITIVE_INFINITY } = limitsOf(work)
  if (weightOf(work, [...retained, ...recent]) > room) return recent
  const content = [{ type: 'text', text: partBegins }]
  const here: PreparedMessage = { role: 'user', content, piece: { role: 'user', origin: 'meta', content } }
  return [...retained, here, ...recent]
}

/**
 * The cleared results are not cached, so they may cost as much as reading a full window from the cache, which is the maximum for
 * the rest of the request. In small windows, as much as in a window of 200,000 tokens.
 */
function maxOriginals(window: number): number {
  return Math.max(window, 200_000) * cachePrices.read
}

/** Our count and the provider's differ by a few percent, and a request that is too long would be paid for nothing. */
const shareOfFree = 0.8

/**
 * The cleared results that the conversation's own request shows as placeholders, in the room that the request leaves in the
 * window. They follow it, so that its cache is still read.
 */
function clearedResults(work: AskContext): string | undefined {
  const { job, plan } = work.run
  const { room, window } = limitsOf(work)
  if (room === undefined) return undefined
  const prepared = preparedMessages(plan.parts.summarized)
  const calls = new Map(prepared.flatMap(({ content }) => content.filter(isToolUse).map((use) => [use.id, use])))
  const results = withOriginals(work, prepared, { free: (room - job.size) * shareOfFree, window })
    .filter((message, at) => message !== prepared[at])
    .flatMap(({ content }) => content.filter(isToolResult))
    .map(({ tool_use_id, content }) => ({ call: calls.get(tool_use_id), text: textOf(content) }))
  return results.length === 0 ? undefined : clearedResultsText(results)
}

/** Restores results that were cleared from the view for the summarizer, newest first, in a part of the window. */
function withOriginals(
  work: AskContext,
  prepared: readonly PreparedMessage[],
  { free, window }: { readonly free: number; readonly window: number },
): readonly PreparedMessage[] {
  const { recordOf } = work.run.job
  if (!recordOf) return prepared
  let left = Math.min(free, maxOriginals(window))
  return prepared
    .toReversed()
    .map((message) => {
      const { uuid, origin } = message.piece
      const record = origin === 'tool-result' && uuid !== undefined ? recordOf(uuid) : undefined
      const original = record && messageOf(record)
      const [whole] = original ? preparedMessages([{ ...message.piece, content: original.content }]) : []
      const more = whole ? work.weigh(whole) - work.weigh(message) : 0
      if (!whole || more <= 0 || more > left) return message
      left -= more
      return whole
    })
    .toReversed()
}

const maxFolded = 6_000

/** Shares of the window for the answer: the reserve before a compaction, and more if the conversation leaves it. */
const outputShare = { min: 0.15, max: 0.25 }

/**
 * The summarizer's window, and its tokens for folded-in facts, for the conversation and for the answer. No room if the window is
 * unknown. `weight` is the conversation's.
 */
function limitsOf({ run, maxTokens, prompt, countText }: AskContext, overflow?: Overflow, weight = 0) {
  const { job, plan, ports } = run
  const { model } = plan
  const told = model === job.conversation?.model ? job.contextWindow : undefined
  const own = told ?? ports.model.capabilities(model).window ?? modelFacts(model)?.window
  const fold = Math.min(maxFolded, Math.floor((own ?? Number.POSITIVE_INFINITY) * 0.05))
  const window = overflow?.limit ?? own
  if (window === undefined) return { window: Number.POSITIVE_INFINITY, room: undefined, fold, output: maxTokens }
  const [min, max] = [Math.floor(window * outputShare.min), Math.floor(window * outputShare.max)]
  const correction = correctionOf(run)
  // Many servers refuse a request if prompt and output limit together exceed the window.
  const left = Math.floor(window * (1 - countError) - countText(prompt) * correction - reportedSize(run, weight))
  const output = Math.min(maxTokens, Math.max(min, Math.min(max, left)))
  const room = Math.max(max, Math.floor((window - output) / correction) - countText(prompt) - fold)
  return { window, room, fold, output }
}

function fits(work: AskContext, { messages, maxTokens = work.maxTokens }: ModelRequest): boolean {
  const { window } = limitsOf(work)
  return reportedSize(work.run, weightOf(work, messages)) + maxTokens <= window * (1 - countError)
}

function weightOf({ weigh }: AskContext, messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + weigh(message), 0)
}

/** The messages to drop next. None if a smaller request has not been tried yet. */
function lessOf(work: AskContext, left: readonly PreparedMessage[], { overflow, wasOwn = false }: TooLong) {
  const { weigh, countText, maxTokens, prompt } = work
  const { room = Number.POSITIVE_INFINITY, fold } = limitsOf(work, overflow)
  const weight = weightOf(work, left)
  if (wasOwn && weight <= room) return undefined
  // The provider's count shows the error of our own.
  const actual = wasOwn ? undefined : overflow?.actual
  const scale = actual === undefined ? 1 : Math.min(2, Math.max(0.5, actual / (weight + countText(prompt))))
  // The window must also have room for the answer.
  const answer = overflow?.maxTokens === undefined ? Math.min(maxTokens, Math.floor((overflow?.limit ?? 0) / 10)) : 0
  const over = wasOwn ? weight - room : gapOf(overflow)
  const gap = over === undefined ? undefined : Math.max(1, over + fold + answer)
  return truncated(left, { gap, weigh: (message) => weigh(message) * scale }) ?? 'only-one'
}

const maxShrinks = 3
const carriedShare = 0.25

/** Oldest first: the summary of one window comes before the next window. */
async function inWindows(
  work: AskContext,
  messages: readonly PreparedMessage[],
  { room, output: maxTokens }: { readonly room: number; readonly output: number },
): Promise<Summary | Failed> {
  const { run, weigh, countText } = work
  const { model } = run.plan
  let size = Math.floor(room * (1 - carriedShare))
  let windows = windowsOf(messages, { size, weigh })
  let carried = ''
  let shrinks = 0
  for (let at = 0; at < windows.length; ) {
    const window = windows[at] ?? []
    const prompt = promptOf(run, work, { number: at + 1, of: windows.length })
    const before: Message[] = carried === '' ? [] : [{ role: 'user', content: carriedText('summary', carried) }]
    const request = directRequest({ model, messages: [...before, ...window], prompt, maxTokens })
    const sourceTokens = weightOf(work, window) + countText(carried)
    const asked = await askIn(work, { mechanism: 'windows', request, prompt, sourceTokens, sends: sendsEach })
    if (asked.type === 'summary') {
      if (at === windows.length - 1) return asked
      const share = Math.min(1, (room * carriedShare) / countText(asked.text))
      carried = withoutMiddle(asked.text, { max: asked.text.length * share })
      at++
      continue
    }
    if (!isTooLong(asked)) return asked
    if (++shrinks > maxShrinks) break
    size = Math.floor(size * 0.6)
    windows = [...windows.slice(0, at), ...windowsOf(windows.slice(at).flat(), { size, weigh })]
  }
  return failed('prompt-too-long', `Even a part of the conversation was too long. ${whatToDo}`)
}

/**
 * If the summary does not fit, asks for a shorter one after the same messages, so that the cache is read. In a small window the
 * messages, both summaries and the prompt may be too long for one request, and then code shortens the first one.
 */
async function shortEnough(work: AskContext, first: Summary): Promise<Summary | Failed> {
  const { countText, availableTokens } = work
  if (countText(first.text) <= availableTokens) return first
  const prompt = shorterPrompt(Math.min(work.run.plan.tokens.summary, availableTokens))
  const request = shorterRequest(first, prompt)
  if (!fits(work, request)) return first
  const second = await askIn(work, { mechanism: 'shorter', request, prompt })
  if (second.type === 'failed') return second.reason === 'aborted' ? second : first
  return countText(second.text) < countText(first.text) ? { ...second, mechanism: first.mechanism } : first
}
