// Whether an answer is a summary at all. Everything that models, proxies and clients have been seen to return instead is
// refused with a reason, so that no conversation is ever replaced by an empty, broken or unhelpful text.
import { type Block, isText, isToolUse, textOf } from '../../message/block.ts'
import type { ModelAnswer } from '../../ports/model.ts'
import { formatSummary } from './format.ts'

export type Judged =
  | { readonly type: 'summary'; readonly text: string }
  | { readonly type: 'refused'; readonly reason: 'no_summary' | 'api_error' | 'no_progress'; readonly why: string }

export type JudgeInput = {
  readonly answer: ModelAnswer
  /** The words that asked for it. */
  readonly prompt: string
  readonly countTokens: (text: string) => number
  /** Tokens of what is summarized: a summary must have fewer. Counting stops once there are more than `enough`. */
  readonly sourceTokens: (enough: number) => number
}

// langchain: an error text was installed as the summary, and the history dropped. pi, codex: so was an empty one.
export function judgeSummary({ answer, prompt, countTokens, sourceTokens }: JudgeInput): Judged {
  if (answer.content.some(isCall)) return no('no_summary', 'it called a tool')
  if (answer.stopReason === 'refusal') return no('no_summary', 'the model refused')
  const whole = textOf(answer.content.filter(isText))
  if (whole.trim() === '') return no('no_summary', 'there was no text')
  const { text, isOpen } = formatSummary(whole)
  if (isErrorText(whole) || isErrorText(text)) return no('api_error', 'the text is an error message')
  // A model that stopped by itself has said all it wanted to, closing tag or not.
  if (answer.stopReason === 'max_tokens' || (isOpen && text === '')) {
    return no('no_summary', 'it was cut off at the output limit')
  }
  if (isPlaceholder(text)) return no('no_summary', 'the text is a placeholder')
  if (isEcho(whole, prompt)) return no('no_summary', 'it repeats the question')
  if (isDegenerate(text)) return no('no_summary', 'it says the same thing over and over')
  const tokens = countTokens(text)
  const source = sourceTokens(tokens)
  if (tokens >= source) return no('no_progress', `the summary has ${tokens} tokens, and what it is made from ${source}`)
  return { type: 'summary', text }
}

function no(reason: 'no_summary' | 'api_error' | 'no_progress', why: string): Judged {
  return { type: 'refused', reason, why }
}

function isCall(block: Block): boolean {
  return isToolUse(block) || block.type === 'tool_use' || block.type === 'server_tool_use'
}

const errorTexts: readonly RegExp[] = [
  /^API Error\b/i,
  /^(Error|Failure) (generating|creating|during) /i,
  /^\{\s*"(type|error)"\s*:\s*("error"|\{)/,
  /^(Prompt is too long|Request (timed out|too large)|Credit balance is too low|Overloaded\b|Internal server error|Invalid API key|Rate limit)/i,
]

export function isErrorText(text: string): boolean {
  const start = text.trimStart().slice(0, 400)
  return errorTexts.some((pattern) => pattern.test(start))
}

const placeholders =
  /^[[(<{"'*\s]*(no response requested|no content|\(?empty\)?|none|n\/a|null|undefined|todo|tbd|placeholder|summary( goes here| unavailable)?|your walk through the conversation|please go on|ok(ay)?|done|understood|\.{2,}|…)[\])>}"'*.!\s]*$/i
const excuse = /^(i('| a)m sorry|sorry|i can(no|')t|i(’|')m unable|i am unable|as an ai)\b/i
const leastLetters = 20

export function isPlaceholder(text: string): boolean {
  const bare = text.trim()
  if (bare === '' || placeholders.test(bare)) return true
  if (bare.length < 300 && excuse.test(bare)) return true
  return (bare.match(/[\p{L}\p{N}]/gu)?.length ?? 0) < leastLetters
}

const longestEcho = 160

function isEcho(text: string, prompt: string): boolean {
  const sample = prompt.trim().slice(0, longestEcho)
  return sample.length >= 40 && text.includes(sample)
}

const shingle = 6
const leastWords = 120
const leastFresh = 0.2
const longestJudged = 200_000

/** Long, and made of few things said again and again: what a model does that cannot find an end. */
function isDegenerate(text: string): boolean {
  const words = text.slice(0, longestJudged).split(/\s+/)
  if (words.length < leastWords) return false
  const seen = new Set<string>()
  const count = words.length - shingle + 1
  for (let at = 0; at < count; at++) seen.add(words.slice(at, at + shingle).join(' '))
  return seen.size / count < leastFresh
}
