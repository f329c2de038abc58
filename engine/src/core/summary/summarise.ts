// Gets the prose of a summary from a model, down a ladder: with the conversation's cache, directly, with the oldest
// rounds dropped, in windows. What no model could do is said with a reason; the rung without a model is the caller's.
import { modelFacts } from '../catalog/models.ts'
import { type Block, textOf } from '../message/block.ts'
import type { Message, ViewMessage } from '../message/message.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { CompactionFailure } from '../ports/events.ts'
import type { AbortSignalPort, ModelRequest, Overflow } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { carriedText, partBegins, type SummaryVariant, summaryPrompt } from '../prompts/summary.ts'
import { type Counting, countTokens } from '../tokens/counting.ts'
import { type Asked, type Asker, createAsker, type Tried } from './asking.ts'
import { type PreparedMessage, preparedMessages } from './prepare.ts'
import { directRequest, onDemandRequest, outputLimit, sharingRequest } from './request.ts'
import { cutInMiddle, gapOf, truncated, withFoldedIn, withoutMarkers } from './too-long.ts'
import { windowsOf } from './windows.ts'

export type SummaryJob = {
  /** What is to be summarised, one for each entry. */
  readonly pieces: readonly ViewMessage[]
  /** from: what stands before it and stays. */
  readonly retained: readonly ViewMessage[]
  readonly variant: SummaryVariant
  readonly instructions: string
  /** The conversation's own request; left out when its cache cannot be shared. */
  readonly conversation?: ModelRequest | undefined
  /** Ask the provider's own compaction first. */
  readonly isOnDemand?: boolean
  /** Of the summariser. */
  readonly model: string
  readonly counting: Counting
}

export type Summarised = {
  readonly tried: readonly Tried[]
  readonly usage: TokenCounts
  readonly hitRate?: number
} & (
  | ProseOutcome
  | { readonly type: 'none'; readonly reason: CompactionFailure; readonly why: string }
  | { readonly type: 'aborted' }
)

type Work = {
  readonly job: SummaryJob
  readonly ports: CompactionPorts
  readonly asker: Asker
  readonly weigh: (message: Message) => number
  readonly countText: (text: string) => number
  readonly maxTokens: number
  /** Of everything that is summarised; no more of it is weighed than has more tokens than this. */
  readonly sourceTokens: (enough: number) => number
}

type ProseOutcome = {
  readonly type: 'prose'
  readonly text: string
  readonly mechanism: string
  readonly model: string
  /** Of the provider's own compaction, as it came: only so may it be sent back. */
  readonly block?: Block
}

type Outcome =
  | ProseOutcome
  | { readonly type: 'none'; readonly reason: CompactionFailure; readonly why: string }
  | { readonly type: 'aborted' }

export async function summarise(
  job: SummaryJob,
  ports: CompactionPorts,
  signal?: AbortSignalPort,
): Promise<Summarised> {
  const weigh = (message: Message) => countTokens([message], job.counting)
  const countText = (text: string) => countTokens([{ role: 'user', content: text }], job.counting)
  const asker = createAsker({ ports, signal, countTokens: countText })
  const { maxOutput } = ports.model.capabilities(job.model)
  const sourceTokens = (enough: number) => weightOf(job.pieces, { weigh, enough })
  const maxTokens = outputLimit(job.model, maxOutput)
  const outcome = await climb({ job, ports, asker, weigh, countText, maxTokens, sourceTokens })
  const hitRate = asker.hitRate()
  return { ...outcome, tried: asker.tried(), usage: asker.usage(), ...(hitRate === undefined ? {} : { hitRate }) }
}

async function climb(work: Work): Promise<Outcome> {
  const served = await askServer(work)
  if (served?.type === 'prose') return proseOf(served, 'server-compaction')
  if (served?.type === 'aborted') return served
  const shared = await askSharing(work)
  if (shared?.type === 'prose') return proseOf(shared, 'cache-sharing')
  if (shared?.type === 'aborted') return shared
  return askDirectly(work, shared?.type === 'overflow' ? shared.overflow : undefined, shared?.type === 'overflow')
}

/** In its own request the whole conversation is summarised, so only full compactions can be had that way. */
async function askServer(work: Work): Promise<Asked | undefined> {
  const { job, asker, sourceTokens } = work
  if (!job.isOnDemand || !job.conversation || job.variant !== 'full') return undefined
  const prompt = promptOf(job)
  const request = onDemandRequest(job.conversation, prompt)
  return asker.ask({ mechanism: 'server-compaction', request, prompt, sourceTokens, sends: 1 })
}

async function askSharing(work: Work): Promise<Asked | undefined> {
  const { job, asker, sourceTokens } = work
  if (!job.conversation) return undefined
  const prompt = promptOf(job)
  const request = sharingRequest(job.conversation, prompt)
  return asker.ask({ mechanism: 'cache-sharing', request, prompt, sourceTokens, sends: 1 })
}

function promptOf(job: SummaryJob, window?: { readonly number: number; readonly of: number }): string {
  const { variant, instructions, pieces } = job
  const first = variant === 'from' ? pieces.find(({ content }) => textOf(content).trim() !== '') : undefined
  const begins = first && textOf(first.content).trim().slice(0, 120)
  return summaryPrompt({ variant, instructions, ...(begins ? { begins } : {}), ...(window ? { window } : {}) })
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
          ? { type: 'none', reason: 'prompt_too_long', why: 'One round alone does not fit the summariser’s window.' }
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
    if (asked.type === 'prose') return proseOf(asked, dropped.length > 0 ? 'direct-truncated' : 'direct')
    if (asked.type === 'aborted') return asked
    if (asked.type === 'failed') return { type: 'none', reason: asked.reason, why: asked.why }
    overflow = asked.overflow
    isTooLong = true
  }
  const why = `The conversation was too long for the summariser ${mostRetries + 1} times, with less of it each time.`
  asker.note({ mechanism: 'direct-truncated', outcome: 'failed', why, reason: 'prompt_too_long' })
  return { type: 'none', reason: 'prompt_too_long', why }
}

/** What stays in the context anyway is shown for understanding, and only where there is room for it. */
function opening(work: Work): { left: readonly PreparedMessage[]; dropped: readonly PreparedMessage[] } {
  const { job } = work
  const recent = withoutMarkers(preparedMessages(job.pieces))
  const retained = withoutMarkers(preparedMessages(job.retained))
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
  const { job, asker, countText, maxTokens, sourceTokens } = work
  const prompt = promptOf(job)
  const messages = withFoldedIn({ left, dropped }, { countTokens: countText, budget: foldBudget(work) })
  const request = directRequest({ model: job.model, messages, prompt, maxTokens })
  const mechanism = dropped.length > 0 ? 'direct-truncated' : 'direct'
  return asker.ask({ mechanism, request, prompt, sourceTokens, sends: sendsEach })
}

const mostFolded = 6_000

function foldBudget(work: Work): number {
  const window = windowOf(work)
  return window === undefined ? mostFolded : Math.min(mostFolded, Math.floor(window * 0.05))
}

function windowOf({ job, ports }: Work): number | undefined {
  return ports.model.capabilities(job.model).window ?? modelFacts(job.model)?.window
}

/** Tokens of conversation that the summariser's window holds beside the question and the answer. */
function roomOf(work: Work, overflow: Overflow | undefined): number | undefined {
  const window = overflow?.limit ?? windowOf(work)
  if (window === undefined) return undefined
  const answer = Math.min(work.maxTokens, Math.floor(window / 4))
  return Math.max(Math.floor(window / 4), window - answer - work.countText(promptOf(work.job)) - foldBudget(work))
}

type Weighing = Pick<Work, 'weigh'> & { readonly enough?: number }

/** Of so many messages, from the first, as have more than enough. */
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
  const { job, weigh } = work
  const sent = isFirst && job.conversation ? ownWeight(work, job.conversation) : directWeight(work, left)
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
  return weightOf(left, work) + work.countText(promptOf(work.job))
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
  const { job, asker, weigh, countText, maxTokens } = work
  let size = Math.floor(room * (1 - shareOfCarried))
  let windows = windowsOf(messages, { size, weigh })
  let carried = ''
  let shrinks = 0
  for (let at = 0; at < windows.length; ) {
    const window = windows[at] ?? []
    const prompt = promptOf(job, { number: at + 1, of: windows.length })
    const before: Message[] = carried === '' ? [] : [{ role: 'user', content: carriedText('summary', carried) }]
    const request = directRequest({ model: job.model, messages: [...before, ...window], prompt, maxTokens })
    const sourceTokens = () => weightOf(window, work) + countText(carried)
    const asked = await asker.ask({ mechanism: 'windows', request, prompt, sourceTokens, sends: sendsEach })
    if (asked.type === 'aborted') return asked
    if (asked.type === 'failed') return { type: 'none', reason: asked.reason, why: asked.why }
    if (asked.type === 'prose') {
      if (at === windows.length - 1) return proseOf(asked, 'windows')
      carried = cutInMiddle(
        asked.text,
        asked.text.length * Math.min(1, (room * shareOfCarried) / countText(asked.text)),
      )
      at++
      continue
    }
    if (++shrinks > mostShrinks) break
    size = Math.floor(size * 0.6)
    windows = [...windows.slice(0, at), ...windowsOf(windows.slice(at).flat(), { size, weigh })]
  }
  return { type: 'none', reason: 'prompt_too_long', why: 'Even a part of the conversation was too long.' }
}

function proseOf({ text, answer }: Extract<Asked, { type: 'prose' }>, mechanism: string): Outcome {
  const block = answer.content.find(({ type }) => type === 'compaction')
  return { type: 'prose', text, mechanism, model: answer.model, ...(block ? { block } : {}) }
}
