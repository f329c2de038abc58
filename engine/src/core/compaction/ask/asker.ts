// Sends one request for a summary and judges the answer. Emits progress while it waits, and adds up the usage.

import { isText, textOf } from '../../message/message.ts'
import { addCounts, billedCounts, type TokenCounts } from '../../message/usage.ts'
import type { ModelAnswer, ModelFailure, ModelRequest } from '../../ports/model.ts'
import { type Failed, type FailedReason, failed, stopped, type Tried } from '../../ports/outcome.ts'
import type { CompactionPorts } from '../../ports/ports.ts'
import { createStop } from '../../ports/safely.ts'
import type { CompactionRun } from '../history.ts'
import { readSections } from '../page/sections.ts'
import { onDemandText } from './request.ts'

export type Summary = {
  readonly type: 'summary'
  readonly mechanism: string
  readonly text: string
  readonly answer: ModelAnswer
  readonly request: ModelRequest
}

export type Asking = {
  readonly mechanism: string
  readonly request: ModelRequest
  readonly prompt: string
  /** Tokens of the summarized messages: a summary must have fewer. */
  readonly sourceTokens: number
  /** Number of attempts if the stream breaks. */
  readonly sends: number
  readonly countTokens: (text: string) => number
}

/** Adds to the result of the compaction, and informs listeners now. */
export function note({ ports, tried }: CompactionRun, item: Tried): void {
  tried.push(item)
  ports.emit({ type: 'mechanism-tried', mechanism: item.mechanism, outcome: item.outcome, why: item.why })
}

export async function ask(run: CompactionRun, asking: Asking): Promise<Summary | Failed> {
  const { ports, signal } = run
  const { mechanism, request, prompt, sourceTokens, countTokens } = asking
  const noted = (reason: FailedReason, why: string): Failed => {
    note(run, { mechanism, outcome: 'failed', why, reason })
    return failed(reason, why)
  }
  const answer = await send(asking, run)
  if (signal?.aborted) return stopped
  const { overflow } = answer.type === 'failed' ? answer : {}
  // The provider's own limit overrides every table.
  if (overflow?.limit !== undefined && overflow.limit !== run.limit) {
    run.limit = overflow.limit
    const { endpoint = ports.model.provider } = ports.model
    ports.emit({ type: 'limit-learned', endpoint, model: request.model, limit: overflow.limit })
  }
  if (isTooLong(answer)) {
    const why = answer.type === 'failed' ? answer.message : 'the answer met the end of the window'
    return { ...noted('prompt-too-long', why), overflow }
  }
  if (answer.type === 'failed') return answer.reason === 'aborted' ? stopped : noted('api-error', answer.message)
  const billed = billedCounts(answer.usage)
  run.usage = addCounts(run.usage, billed)
  if (mechanism === 'cache-sharing' || mechanism === 'server-compaction') run.hitRate = hitRateOf(billed)
  const words = { ...answer, content: onDemandText(answer.content) }
  const judged = judgeSummary({ answer: words, prompt, countTokens, sourceTokens })
  if (typeof judged !== 'string') return noted(judged.reason, judged.why)
  note(run, { mechanism, outcome: 'done', why: `${countTokens(judged)} tokens` })
  return { type: 'summary', mechanism, text: judged, answer, request }
}

function isTooLong(answer: ModelAnswer | ModelFailure): boolean {
  if (answer.type === 'answer') return answer.stopReason === 'model_context_window_exceeded'
  return answer.reason === 'overflow' || answer.reason === 'too-large'
}

/** A client may have retried by itself. All tries count together. */
async function send({ request, sends }: Asking, run: CompactionRun): Promise<ModelAnswer | ModelFailure> {
  const { ports, signal } = run
  for (let sent = 0; ; ) {
    run.attempts++
    const answer = await keptAlive(ports, () =>
      ports.model.send(request, {
        ...(signal ? { signal } : {}),
        onEvent: (event) => {
          if (event.type !== 'progress') return
          ports.emit({ type: 'compaction-progressed', phase: 'summarizing', outputTokens: event.outputTokens })
        },
      }),
    )
    if (signal?.aborted || answer.type === 'answer' || answer.reason !== 'transient') return answer
    sent += Math.max(1, answer.tries)
    if (sent >= sends) return answer
    await ports.wait(1_000 * sent, signal)
  }
}

const keepAliveEvery = 30_000

/** A summary can take longer than a proxy waits for the next byte. */
async function keptAlive<T>(ports: CompactionPorts, work: () => Promise<T>): Promise<T> {
  const over = createStop()
  const beat = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await ports.wait(keepAliveEvery, over.signal)
      if (!over.signal.aborted) ports.emit({ type: 'compaction-progressed', phase: 'summarizing', keepAlive: true })
    }
  }
  const beating = beat()
  try {
    return await work()
  } finally {
    over.stop()
    await beating
  }
}

function hitRateOf({ input, cacheRead, cacheWrite }: TokenCounts): number | undefined {
  const prompt = input + cacheRead + cacheWrite
  return prompt === 0 ? undefined : cacheRead / prompt
}

// Gets the summary from a model's answer. Known bad answers of models, proxies and clients count as failures, so that an empty,
// broken or unhelpful text never replaces a conversation.

export type JudgeInput = {
  readonly answer: ModelAnswer
  readonly prompt: string
  readonly countTokens: (text: string) => number
  readonly sourceTokens: number
}

// langchain used an error text as the summary and dropped the history. pi and codex did so with an empty one.
export function judgeSummary({ answer, prompt, countTokens, sourceTokens }: JudgeInput): string | Failed {
  if (answer.content.some(({ type }) => type === 'tool_use' || type === 'server_tool_use'))
    return failed('no-summary', 'it called a tool')
  if (answer.stopReason === 'refusal') return failed('no-summary', 'the model refused')
  const whole = textOf(answer.content.filter(isText))
  if (whole.trim() === '') return failed('no-summary', 'there was no text')
  const { text, isOpen } = formatSummary(whole)
  if (isErrorText(whole) || isErrorText(text)) return failed('api-error', 'the text is an error message')
  // A model that stopped by itself has finished, even without a closing tag.
  if (answer.stopReason === 'max_tokens' || (isOpen && text === '')) {
    return failed('no-summary', 'it was cut off at the output limit')
  }
  if (isPlaceholder(text)) return failed('no-summary', 'the text is a placeholder')
  if (isEcho(whole, prompt)) return failed('no-summary', 'it repeats the question')
  if (isDegenerate(text)) return failed('no-summary', 'it says the same thing over and over')
  const tokens = countTokens(text)
  if (tokens >= sourceTokens) {
    return failed('no-progress', `the summary has ${tokens} tokens, and what it is made from ${sourceTokens}`)
  }
  return text
}

const errorTexts: readonly RegExp[] = [
  /^API Error\b/i,
  /^(Error|Failure) (generating|creating|during) /i,
  /^\{\s*"(type|error)"\s*:\s*("error"|\{)/,
  /^(Prompt is too long|Request (timed out|too large)|Credit balance is too low|Overloaded\b|Internal server error|Invalid API key|Rate limit)/i,
]

function isErrorText(text: string): boolean {
  const start = text.trimStart().slice(0, 400)
  return errorTexts.some((pattern) => pattern.test(start))
}

const placeholders =
  /^[[(<{"'*\s]*(no response requested|no content|\(?empty\)?|none|n\/a|null|undefined|todo|tbd|placeholder|summary( goes here| unavailable)?|your walk through the conversation|please go on|ok(ay)?|done|understood|\.{2,}|…)[\])>}"'*.!\s]*$/i
const excuse = /^(i('| a)m sorry|sorry|i can(no|')t|i(’|')m unable|i am unable|as an ai)\b/i
const minLetters = 20

function isPlaceholder(text: string): boolean {
  const bare = text.trim()
  if (bare === '' || placeholders.test(bare)) return true
  if (bare.length < 300 && excuse.test(bare)) return true
  return (bare.match(/[\p{L}\p{N}]/gu)?.length ?? 0) < minLetters
}

const maxEchoLength = 160

function isEcho(text: string, prompt: string): boolean {
  const sample = prompt.trim().slice(0, maxEchoLength)
  return sample.length >= 40 && text.includes(sample)
}

const shingle = 6
const minWords = 120
const minFreshShare = 0.2
const maxJudgedLength = 200_000

/** A long text that repeats a few words: the model was caught in a loop. */
function isDegenerate(text: string): boolean {
  const words = text.slice(0, maxJudgedLength).split(/\s+/)
  if (words.length < minWords) return false
  const seen = new Set<string>()
  const count = words.length - shingle + 1
  for (let at = 0; at < count; at++) seen.add(words.slice(at, at + shingle).join(' '))
  return seen.size / count < minFreshShare
}

export type FormattedSummary = {
  readonly text: string
  /** The last block was not closed. */
  readonly isOpen: boolean
}

/** Removes the scratchpad and the tags, and folds runs of blank lines. Tags that the text only mentions stay. */
export function formatSummary(answer: string): FormattedSummary {
  const analysis = openingOf(answer, 'analysis')
  const rest = analysis === undefined ? answer : withoutAnalysis(answer, analysis)
  const start = openingOf(rest, 'summary')
  if (start === undefined) {
    const isOpen = openingOf(rest, 'analysis') !== undefined
    return isOpen ? { text: '', isOpen: true } : { text: folded(rest), isOpen: false }
  }
  const body = rest.slice(start + '<summary>'.length)
  const end = closingOf(body)
  return { text: folded(end === undefined ? body : body.slice(0, end)), isOpen: end === undefined }
}

/**
 * The last closing tag, because a summary may mention its own tags. None if that one is quoted, as in `"<summary>Tests
 * passed</summary>"`: it closes a tag of its own line, or sections of the summary follow it.
 */
function closingOf(body: string): number | undefined {
  const last = [...body.matchAll(/<\/summary>/gi)].at(-1)
  if (last === undefined) return undefined
  const after = body.slice(last.index + last[0].length)
  if (after.trim() === '') return last.index
  const line = body.slice(body.lastIndexOf('\n', last.index) + 1, last.index)
  const isQuoted = /<summary>/i.test(line) || readSections(after).some(({ number }) => number !== undefined)
  return isQuoted ? undefined : last.index
}

const maxPrefaceLength = 200

/** A tag opens a block at the start of a line or near the start of the text. Elsewhere the text only mentions it. */
function openingOf(text: string, name: 'analysis' | 'summary'): number | undefined {
  for (const { index, 0: tag } of text.matchAll(new RegExp(`^[ \\t]*<${name}>|<${name}>`, 'gim'))) {
    const at = index + tag.length - `<${name}>`.length
    if (tag.length > `<${name}>`.length || at <= maxPrefaceLength || text[at - 1] === '\n') return at
  }
  return undefined
}

/** Removes the scratchpad. Returns the text unchanged if the scratchpad never ends. */
function withoutAnalysis(answer: string, start: number): string {
  const end = answer.toLowerCase().indexOf('</analysis>', start)
  return end < 0 ? answer : `${answer.slice(0, start)}${answer.slice(end + '</analysis>'.length)}`
}

function folded(text: string): string {
  // Goes line by line, because a pattern for trailing blanks is quadratic in a long run of them.
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
