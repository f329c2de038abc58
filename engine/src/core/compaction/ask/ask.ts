// Asks a model for a summary: with the conversation's cache, directly, with the oldest rounds dropped, in windows. What no
// model could do is said with a reason; writing a summary without a model is the caller's business.
import { modelFacts } from '../../catalog/models.ts'
import { type Block, textOf } from '../../message/block.ts'
import type { Message, ViewMessage } from '../../message/message.ts'
import type { TokenCounts } from '../../message/usage.ts'
import type { CompactionFailure, Tried } from '../../ports/events.ts'
import type { AbortSignalPort, ModelRequest, Overflow } from '../../ports/model.ts'
import type { CompactionPorts } from '../../ports/ports.ts'
import { carriedText, partBegins, type SummaryVariant, shorterPrompt, summaryPrompt } from '../../prompts/summary.ts'
import { withoutMiddle } from '../../text/cut.ts'
import { type Counting, countTokens } from '../../tokens/estimate/counting.ts'
import { type Asked, type Asker, createAsker } from './asker.ts'
import { type PreparedMessage, preparedMessages } from './prepare.ts'
import { directRequest, onDemandRequest, outputLimit, sharingRequest, shorterRequest } from './request.ts'
import { gapOf, truncated, withFoldedIn, withoutMarkers } from './too-long.ts'
import { windowsOf } from './windows.ts'

export type Question = {
  /** What is to be summarized, one for each entry. */
  readonly pieces: readonly ViewMessage[]
  /** from: what comes before it and stays. */
  readonly retained: readonly ViewMessage[]
  readonly variant: SummaryVariant
  readonly instructions: string
  /** The conversation's own request; left out when its cache cannot be shared. */
  readonly conversation?: ModelRequest | undefined
  /** Ask the provider's own compaction first. */
  readonly isOnDemand?: boolean
  /** Of the summarizer. */
  readonly model: string
  /** Its window, where the host or an earlier error said so. */
  readonly window?: number | undefined
  /** Tokens that the summary may use: the model is told. */
  readonly maxTokens: number
  /** Tokens that fit at the most: for a longer answer the model is asked once for a shorter one. */
  readonly availableTokens: number
  readonly counting: Counting
}

export type Answered = {
  readonly tried: readonly Tried[]
  readonly usage: TokenCounts
  readonly hitRate?: number
} & (
  | Summary
  | { readonly type: 'none'; readonly reason: CompactionFailure; readonly why: string }
  | { readonly type: 'aborted' }
)

type Work = {
  readonly question: Question
  readonly ports: CompactionPorts
  readonly asker: Asker
  readonly weigh: (message: Message) => number
  readonly countText: (text: string) => number
  readonly maxTokens: number
  /** Tokens of everything that is summarized; counting stops once there are more than `enough`. */
  readonly sourceTokens: (enough: number) => number
}

export type Summary = {
  readonly type: 'summary'
  readonly text: string
  readonly mechanism: string
  readonly model: string
  /** Of the provider's own compaction, exactly as it came: only so may it be sent back. */
  readonly block?: Block
}

type Outcome =
  | Summary
  | { readonly type: 'none'; readonly reason: CompactionFailure; readonly why: string }
  | { readonly type: 'aborted' }

export async function askForSummary(
  question: Question,
  ports: CompactionPorts,
  signal?: AbortSignalPort,
): Promise<Answered> {
  const weigh = (message: Message) => countTokens([message], question.counting)
  const countText = (text: string) => countTokens([{ role: 'user', content: text }], question.counting)
  const asker = createAsker({ ports, signal, countTokens: countText })
  const { maxOutput } = ports.model.capabilities(question.model)
  const sourceTokens = (enough: number) => weightOf(question.pieces, { weigh, enough })
  const maxTokens = outputLimit(question.model, maxOutput)
  const work = { question, ports, asker, weigh, countText, maxTokens, sourceTokens }
  const outcome = await climb(work)
  const hitRate = asker.hitRate()
  return { ...outcome, tried: asker.tried(), usage: asker.usage(), ...(hitRate === undefined ? {} : { hitRate }) }
}

async function climb(work: Work): Promise<Outcome> {
  const served = await askServer(work)
  if (served?.type === 'summary') return summaryOf(served, 'server-compaction')
  if (served?.type === 'aborted') return served
  const shared = await askSharing(work)
  if (shared?.type === 'summary') return shortEnough(work, shared, 'cache-sharing')
  if (shared?.type === 'aborted') return shared
  return askDirectly(work, shared?.type === 'overflow' ? shared.overflow : undefined, shared?.type === 'overflow')
}

/** The provider summarizes its whole request, so only a full compaction can be had that way. */
async function askServer(work: Work): Promise<Asked | undefined> {
  const { question, asker, sourceTokens } = work
  if (!question.isOnDemand || !question.conversation || question.variant !== 'full') return undefined
  const prompt = promptOf(question)
  const request = onDemandRequest(question.conversation, prompt)
  return asker.ask({ mechanism: 'server-compaction', request, prompt, sourceTokens, sends: 1 })
}

async function askSharing(work: Work): Promise<Asked | undefined> {
  const { question, asker, sourceTokens } = work
  if (!question.conversation) return undefined
  const prompt = promptOf(question)
  const request = sharingRequest(question.conversation, prompt)
  return asker.ask({ mechanism: 'cache-sharing', request, prompt, sourceTokens, sends: 1 })
}

function promptOf(question: Question, window?: { readonly number: number; readonly of: number }): string {
  const { variant, instructions, pieces, maxTokens } = question
  const first = variant === 'from' ? pieces.find(({ content }) => textOf(content).trim() !== '') : undefined
  const begins = first && textOf(first.content).trim().slice(0, 120)
  return summaryPrompt({
    variant,
    instructions,
    maxTokens,
    ...(begins ? { begins } : {}),
    ...(window ? { window } : {}),
  })
}

const mostRetries = 3
const sendsEach = 3

/** The direct request, with fewer and fewer of the oldest rounds when it is too long. */
async function askDirectly(work: Work, told: Overflow | undefined, wasTooLong: boolean): Promise<Outcome> {
  const { ports, asker } = work
  let { left, dropped } = opening(work)
  let overflow = told
  let isTooLong = wasTooLong
  let isFirst = true
  for (let retries = 0; ; ) {
    const room = roomOf(work, overflow)
    const window = overflow?.limit ?? windowOf(work)
    // More than one fold: to drop what does not fit would be to drop most of it.
    if (room !== undefined && window !== undefined && weightOf(left, { ...work, enough: 2 * window }) > 2 * window) {
      return inWindows(work, left, room)
    }
    if (isTooLong) {
      const next = lessOf(work, { left, overflow, room, isFirst })
      if (next === 'only-one') {
        return room === undefined
          ? { type: 'none', reason: 'prompt_too_long', why: 'One round alone does not fit the summarizer’s window.' }
          : inWindows(work, left, room)
      }
      if (next) {
        if (++retries > mostRetries) break
        left = next.left
        dropped = [...dropped, ...next.dropped]
        const groups = { dropped: next.groups.dropped, left: next.groups.left }
        ports.emit({ type: 'prompt-too-long-retried', attempt: retries, ...groups })
      }
    }
    isFirst = false
    const asked = await ask(work, { left, dropped })
    if (asked.type === 'summary') return shortEnough(work, asked, dropped.length > 0 ? 'direct-truncated' : 'direct')
    if (asked.type === 'aborted') return asked
    if (asked.type === 'failed') return { type: 'none', reason: asked.reason, why: asked.why }
    overflow = asked.overflow
    isTooLong = true
  }
  const why = `The conversation was too long for the summarizer ${mostRetries + 1} times, with less of it each time.`
  asker.note({ mechanism: 'direct-truncated', outcome: 'failed', why, reason: 'prompt_too_long' })
  return { type: 'none', reason: 'prompt_too_long', why }
}

/** What stays in the context anyway is shown for understanding, and only where there is room for it. */
function opening(work: Work): { left: readonly PreparedMessage[]; dropped: readonly PreparedMessage[] } {
  const { question } = work
  const recent = withoutMarkers(preparedMessages(question.pieces))
  const retained = withoutMarkers(preparedMessages(question.retained))
  if (retained.length === 0) return { left: recent, dropped: [] }
  const room = roomOf(work, undefined)
  const isRoomy = room === undefined || weightOf([...retained, ...recent], { ...work, enough: room }) <= room
  if (!isRoomy) return { left: recent, dropped: [] }
  const piece: ViewMessage = { role: 'user', origin: 'meta', content: partBegins }
  const here: PreparedMessage = { role: 'user', content: [{ type: 'text', text: partBegins }], piece }
  return { left: [...retained, here, ...recent], dropped: [] }
}

async function ask(
  work: Work,
  { left, dropped }: { readonly left: readonly PreparedMessage[]; readonly dropped: readonly PreparedMessage[] },
): Promise<Asked> {
  const { question, asker, countText, maxTokens, sourceTokens } = work
  const prompt = promptOf(question)
  const messages = withFoldedIn({ left, dropped }, { countTokens: countText, budget: foldBudget(work) })
  const request = directRequest({ model: question.model, messages, prompt, maxTokens })
  const mechanism = dropped.length > 0 ? 'direct-truncated' : 'direct'
  return asker.ask({ mechanism, request, prompt, sourceTokens, sends: sendsEach })
}

const mostFolded = 6_000

function foldBudget(work: Work): number {
  const window = windowOf(work)
  return window === undefined ? mostFolded : Math.min(mostFolded, Math.floor(window * 0.05))
}

function windowOf({ question, ports }: Work): number | undefined {
  return question.window ?? ports.model.capabilities(question.model).window ?? modelFacts(question.model)?.window
}

/** Tokens of conversation that the summarizer's window holds beside the question and the answer. */
function roomOf(work: Work, overflow: Overflow | undefined): number | undefined {
  const window = overflow?.limit ?? windowOf(work)
  if (window === undefined) return undefined
  const answer = Math.min(work.maxTokens, Math.floor(window / 4))
  return Math.max(Math.floor(window / 4), window - answer - work.countText(promptOf(work.question)) - foldBudget(work))
}

type Weighing = Pick<Work, 'weigh'> & { readonly enough?: number }

/** The tokens of messages; counting stops once there are more than `enough`. */
function weightOf(messages: readonly Message[], { weigh, enough = Number.POSITIVE_INFINITY }: Weighing): number {
  let sum = 0
  for (const message of messages) {
    sum += weigh(message)
    if (sum > enough) break
  }
  return sum
}

type TooLong = {
  readonly left: readonly PreparedMessage[]
  readonly overflow: Overflow | undefined
  readonly room: number | undefined
  /** What was too long was the conversation's own request, and the direct one is smaller. */
  readonly isFirst: boolean
}

/** What to leave out next; nothing when preparing alone has saved enough. */
function lessOf(work: Work, { left, overflow, room, isFirst }: TooLong) {
  const { question, weigh } = work
  const sent = isFirst && question.conversation ? ownWeight(work, question.conversation) : directWeight(work, left)
  // Our count and the provider's differ: what it counted says by how much.
  const scale = overflow?.actual === undefined ? 1 : Math.min(2, Math.max(0.5, overflow.actual / sent))
  const saved = Math.max(0, sent - directWeight(work, left)) * scale
  const known = gapOf(overflow)
  if (isFirst && room !== undefined && weightOf(left, work) * scale <= room && saved > (known ?? 0)) return undefined
  const gap =
    known === undefined ? undefined : Math.max(1, known - saved + foldBudget(work) + answerRoom(work, overflow))
  return truncated(left, { gap, weigh: (message) => weigh(message) * scale }) ?? 'only-one'
}

/** So that what fits the window leaves room to answer in, too. */
function answerRoom({ maxTokens }: Work, overflow: Overflow | undefined): number {
  if (overflow?.maxTokens !== undefined) return 0
  return Math.min(maxTokens, Math.floor((overflow?.limit ?? 0) / 10))
}

function directWeight(work: Work, left: readonly Message[]): number {
  return weightOf(left, work) + work.countText(promptOf(work.question))
}

function ownWeight(work: Work, { system, tools, messages }: ModelRequest): number {
  const words = typeof system === 'string' ? system : JSON.stringify(system ?? '')
  const around = work.countText(words) + work.countText(JSON.stringify(tools ?? ''))
  return around + directWeight(work, messages)
}

const mostShrinks = 3
const shareOfCarried = 0.25

/** Oldest first; what was written about one window stands before the next. */
async function inWindows(work: Work, messages: readonly PreparedMessage[], room: number): Promise<Outcome> {
  const { question, asker, weigh, countText, maxTokens } = work
  let size = Math.floor(room * (1 - shareOfCarried))
  let windows = windowsOf(messages, { size, weigh })
  let carried = ''
  let shrinks = 0
  for (let at = 0; at < windows.length; ) {
    const window = windows[at] ?? []
    const prompt = promptOf(question, { number: at + 1, of: windows.length })
    const before: Message[] = carried === '' ? [] : [{ role: 'user', content: carriedText('summary', carried) }]
    const request = directRequest({ model: question.model, messages: [...before, ...window], prompt, maxTokens })
    const sourceTokens = () => weightOf(window, work) + countText(carried)
    const asked = await asker.ask({ mechanism: 'windows', request, prompt, sourceTokens, sends: sendsEach })
    if (asked.type === 'aborted') return asked
    if (asked.type === 'failed') return { type: 'none', reason: asked.reason, why: asked.why }
    if (asked.type === 'summary') {
      if (at === windows.length - 1) return summaryOf(asked, 'windows')
      const share = Math.min(1, (room * shareOfCarried) / countText(asked.text))
      carried = withoutMiddle(asked.text, { most: asked.text.length * share })
      at++
      continue
    }
    if (++shrinks > mostShrinks) break
    size = Math.floor(size * 0.6)
    windows = [...windows.slice(0, at), ...windowsOf(windows.slice(at).flat(), { size, weigh })]
  }
  return { type: 'none', reason: 'prompt_too_long', why: 'Even a part of the conversation was too long.' }
}

type Got = Extract<Asked, { type: 'summary' }>

/** A summary that does not fit is asked for once more, shorter, behind the first: the conversation stays cached. */
async function shortEnough(work: Work, got: Got, mechanism: string): Promise<Outcome> {
  const { question, asker, countText, sourceTokens } = work
  if (countText(got.text) <= question.availableTokens) return summaryOf(got, mechanism)
  const prompt = shorterPrompt(Math.min(question.maxTokens, question.availableTokens))
  const request = shorterRequest(got, prompt)
  const again = await asker.ask({ mechanism: 'shorter', request, prompt, sourceTokens, sends: 1 })
  if (again.type === 'aborted') return again
  const isShorter = again.type === 'summary' && countText(again.text) < countText(got.text)
  return summaryOf(isShorter ? again : got, mechanism)
}

function summaryOf({ text, answer }: Got, mechanism: string): Summary {
  const block = answer.content.find(({ type }) => type === 'compaction')
  return { type: 'summary', text, mechanism, model: answer.model, ...(block ? { block } : {}) }
}
