// Compaction from the notes, without a model. Plans which messages stay and what the summary says, or declines with a reason.
// Pure.

import { typedText } from '../ledger/user-words.ts'
import { cutBefore, legalCuts } from '../message/cut-points.ts'
import { blocksOf, isRequest, isText, textOf, type ViewMessage } from '../message/message.ts'
import { type Declined, declined } from '../ports/outcome.ts'
import { memoryCutMarker } from '../prompts/memory.ts'
import { defaultSettings } from '../settings/resolve.ts'
import type { Settings } from '../settings/table.ts'
import { contentWords } from '../text/plain-words.ts'
import { cutNotes, isEmpty, type Notes, renderNotes } from './notes.ts'

export type MemoryDecline =
  | 'turned-off'
  | 'overflow'
  | 'in-memory'
  | 'instructions-given'
  | 'no-notes'
  | 'empty-notes'
  | 'extraction-running'
  | 'last-message-gone'
  | 'nothing-to-summarize'
  | 'over-threshold'
  | 'over-target'
  | 'too-thin'

export type MemoryPlan =
  | { readonly type: 'planned'; readonly keepFrom: number; readonly summary: string }
  | Declined<MemoryDecline>

export type MemoryPlanInput = {
  readonly messages: readonly ViewMessage[]
  readonly notes: Notes | undefined
  readonly path: string
  /** The last message that the notes cover. Undefined before the first extraction of this process. */
  readonly lastSeen: string | undefined
  /** Index of the message with this entry; -1 if there is none. */
  readonly indexOf: (uuid: string) => number
  /** The conversation was opened again. The notes are older than this process, so only the budget decides what stays. */
  readonly isResumed: boolean
  readonly threshold: number
  readonly countTokens: (text: string) => number
  readonly weigh: (message: ViewMessage) => number
  /** Tokens of the system prompt, the tools, and the context to be restored. */
  readonly overhead: number
  /** How much stays verbatim. */
  readonly keep?: Settings['sessionMemory']['keep']
  /** Converts an estimate to what the gauge would show. */
  readonly measure?: (tokens: number) => number
}

export function planFromMemory(input: MemoryPlanInput): MemoryPlan {
  const { messages, notes, lastSeen, isResumed, threshold } = input
  if (!notes) return declined('no-notes', 'There are no notes yet.')
  if (isEmpty(notes)) return declined('empty-notes', 'The notes are still the empty template.')
  const seen = lastSeen === undefined ? -1 : input.indexOf(lastSeen)
  if (seen < 0 && !isResumed) {
    return declined('last-message-gone', 'The last message that the notes know of is not in the conversation any more.')
  }
  const keepFrom = keptFrom(input, seen < 0 ? messages.length : seen + 1)
  if (keepFrom <= firstAfterBoundary(messages)) {
    return declined('nothing-to-summarize', 'All messages since the last boundary would be kept.')
  }
  const marker = memoryCutMarker(input.path)
  const summary = renderNotes(cutNotes(notes, { countTokens: input.countTokens, marker })).trim()
  const thin = tooThin(summary, messages.slice(0, keepFrom), input)
  if (thin !== undefined) return declined('too-thin', thin)
  const kept = weightOf(messages.slice(keepFrom), input)
  const { measure = (tokens: number) => tokens } = input
  const tokensAfter = Math.ceil(measure(input.overhead + input.countTokens(summary) + kept))
  const tooLarge = `It would leave ${tokensAfter} tokens, and the next compaction comes at ${threshold}.`
  if (tokensAfter >= threshold) return declined('over-threshold', tooLarge)
  return { type: 'planned', keepFrom, summary }
}

const minTokens = 1_500
const minShare = 0.02
/** Share of the words of a request that notes taken after it contain. */
const minMentioned = 0.25

/** True if the notes say too little to replace these messages. */
function tooThin(
  summary: string,
  replaced: readonly ViewMessage[],
  { countTokens, weigh }: Pick<MemoryPlanInput, 'countTokens' | 'weigh'>,
): string | undefined {
  const tokens = countTokens(summary)
  const source = weightOf(replaced, { weigh })
  if (tokens < minTokens && tokens < source * minShare) {
    return `The notes have ${tokens} tokens, and would take the place of ${Math.round(source)}.`
  }
  const request = replaced.findLast(({ origin }) => isRequest(origin))
  const words = contentWords(typedText(textOf(request?.content ?? '')).slice(0, 2_000))
  const noted = new Set(contentWords(summary))
  if (words.length < 4 || words.filter((word) => noted.has(word)).length >= words.length * minMentioned)
    return undefined
  return 'The notes do not mention the newest request that they would replace.'
}

function weightOf(messages: readonly ViewMessage[], { weigh }: Pick<MemoryPlanInput, 'weigh'>): number {
  return messages.reduce((sum, message) => sum + weigh(message), 0)
}

/**
 * Keeps everything that the notes do not cover, and more before it until enough stays. Never crosses the boundary or splits a
 * pair.
 */
function keptFrom(
  { messages, weigh, keep = defaultSettings.sessionMemory.keep }: MemoryPlanInput,
  start: number,
): number {
  const first = firstAfterBoundary(messages)
  let from = Math.max(start, first)
  let tokens = weightOf(messages.slice(from), { weigh })
  let texts = messages.slice(from).filter(hasText).length
  while (from > first && tokens < keep.maxTokens && (tokens < keep.minTokens || texts < keep.minMessages)) {
    const taken = messages.slice(--from, from + 1)
    tokens += weightOf(taken, { weigh })
    texts += taken.filter(hasText).length
  }
  return Math.max(first, cutBefore(legalCuts(messages, { before: 'user-message' }), from) ?? first)
}

function hasText({ content }: ViewMessage): boolean {
  return blocksOf(content).some(isText)
}

/** Index after the newest summary, which already covers everything before it. */
function firstAfterBoundary(messages: readonly ViewMessage[]): number {
  return messages.findLastIndex(({ origin }) => origin === 'summary') + 1
}
