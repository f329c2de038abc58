// Makes sure that the user's messages are in the context, verbatim. The model's section on user messages stays as it is.
// Messages that are missing or altered there are inserted, in order.
import type { Exchange } from '../../ledger/facts.ts'
import { interrupted } from '../../ledger/steps.ts'
import { isTyped } from '../../ledger/user-words.ts'
import type { FidelityReport } from '../../ports/hooks.ts'
import { pageTitles } from '../../prompts/page.ts'
import { recallPointer } from '../../prompts/recall.ts'
import { condensed, type TokenLimit } from '../../text/cut.ts'
import { neutralize, oneLine } from '../../text/neutralize.ts'
import { contentWords, holdsWords, plainWords } from '../../text/plain-words.ts'
import { joinSections, readSections } from './sections.ts'

/** `tokens` limits the inserted messages. */
export type CompleteOptions = TokenLimit & {
  readonly recall: boolean
  /** Number of latest messages that are inserted whole, at any cost. Default 3. */
  readonly neverShortened?: number | undefined
  /** The request that the context ends with. */
  readonly closes?: Exchange | undefined
}

export type Completed = {
  readonly text: string
  /** The inserted messages, in order, and their tokens. */
  readonly lines: readonly string[]
  readonly inserted: number
  readonly counts: FidelityReport['humanMessages']
}

const sectionNumber = 6
/** Characters of a message that does not fit whole. */
export const shortened = 300

/** True if the user said something. An approval without words does not count. */
export function isSaid({ kind, text }: Exchange): boolean {
  return kind !== 'approval' && text !== ''
}

export function completeWords(summary: string, exchanges: readonly Exchange[], options: CompleteOptions): Completed {
  const said = withoutRepeats(exchanges.filter((exchange) => isSaid(exchange) || exchange.kind === 'rejection'))
  const where = searchable(summary)
  const missing = said.filter((exchange) => !isInSummary(exchange, where) && !isSameWords(exchange, options.closes))
  const shown = fitted(missing, said, options)
  const lines = [...shown.values()].map(({ text }) => text)
  const whole = [...shown.values()].filter(({ isWhole }) => isWhole).length
  return {
    text: lines.length === 0 ? summary : inserted(summary, said, shown),
    lines,
    inserted: options.countTokens(lines.join('\n')),
    counts: {
      total: said.length,
      verbatim: said.length - missing.length + whole,
      shortened: shown.size - whole,
      putIn: shown.size,
    },
  }
}

/** The same message, read by another ledger. */
export function isSameWords(one: Exchange, other: Exchange | undefined): boolean {
  return one.kind === other?.kind && one.text === other.text && one.uuid === other.uuid
}

/** Drops repeated messages: "go on", "Go on!" → "go on". */
export function withoutRepeats(exchanges: readonly Exchange[]): readonly Exchange[] {
  const seen = new Set<string>()
  return exchanges.filter(({ text, about = '' }) => {
    const key = plainWords(`${text} ${about}`)
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  })
}

type Where = { readonly plain: string; readonly summary: string; readonly content: ReadonlySet<string> }

/** "Fix it.\nNow!" → " fix it \n now ": the end of one line and the start of the next are no match. */
export function searchable(summary: string): Where {
  const plain = summary.split('\n').map(plainWords).join('\n')
  return { plain, summary, content: new Set(contentWords(summary)) }
}

const fewWords = 3
/**
 * A reply counts as quoted only if this share of its question is there too: "The left one" needs most words of "Which hinge,
 * left or right?"
 */
const topicShare = 0.6

/**
 * True if every sentence of the message is there: "Fix it. Then push it." in "- Fix it. Then push it." One or two words ("yes")
 * count only in quotes.
 */
export function isInSummary({ text, kind, about = '' }: Exchange, where: Where): boolean {
  const { plain, summary, content } = where
  // "Skip 5 and 7" is useless without what 5 and 7 are.
  const topic = isTyped({ kind }) ? contentWords(about) : []
  if (topic.filter((word) => content.has(word)).length < topic.length * topicShare) return false
  if (text === '') return kind === 'rejection' && holdsWords(plain, plainWords(about.split(' ').at(-1) ?? ''))
  // "/review src" may be written as "the command /review with src"; "[image]" must be there as it is.
  const [, command = '', args = ''] = /^(\/\S+)\s+([\s\S]+)$/.exec(text) ?? []
  if (args !== '') return summary.includes(command) && isInSummary({ kind, text: args, last: 0 }, where)
  if (text.startsWith('/') || /^\[\w+\]$/.test(text)) return summary.includes(text)
  const words = plainWords(text)
  if (words.trim().split(' ').length < fewWords) return summary.includes(`"${text}"`) || summary.includes(`“${text}”`)
  if (holdsWords(plain, words)) return true
  return ownSentences(text).every((sentence) => holdsWords(plain, plainWords(sentence)))
}

/** "Fix it. Why?\n[pasted log, …]" → "Fix it.", "Why?" */
function ownSentences(text: string): readonly string[] {
  return text
    .split(/\n+|(?<=[.!?。！？])\s+/)
    .filter((sentence) => !sentence.startsWith('[pasted ') && /[\p{L}\p{N}]/u.test(sentence))
}

type Shown = { readonly text: string; readonly isWhole: boolean }

/** Takes the newest messages first. A message that does not fit is shortened. If that does not fit either, it is left out. */
function fitted(
  missing: readonly Exchange[],
  said: readonly Exchange[],
  { recall, countTokens, tokens, neverShortened = 3 }: CompleteOptions,
): ReadonlyMap<Exchange, Shown> {
  const latest = new Set(said.slice(Math.max(0, said.length - neverShortened)))
  const shown = new Map<Exchange, Shown>()
  let left = tokens
  for (const exchange of missing.toReversed()) {
    const forms = [wordsText(exchange, { recall }), wordsText(exchange, { recall, most: shortened })]
    const [whole = '', short = ''] = forms.map((form) => `- ${form}`)
    const text = latest.has(exchange) || countTokens(whole) <= left ? whole : countTokens(short) <= left ? short : ''
    if (text === '') continue
    left -= countTokens(text)
    shown.set(exchange, { text, isWhole: text === whole })
  }
  return new Map([...shown].toReversed())
}

/** This many first words identify a message even if its end was altered: "Please fix the gate" for "Please fix the gate, then push". */
const startWords = 4

/**
 * Inserts each message into the section on user messages: after the line with its first words, otherwise after the previous
 * message.
 */
function inserted(summary: string, said: readonly Exchange[], shown: ReadonlyMap<Exchange, Shown>): string {
  const sections = readSections(summary)
  const at = sections.findIndex(({ number }) => number === sectionNumber)
  const section = sections[at]
  if (!section)
    return [`${summary}\n\n## ${pageTitles.words}`, ...[...shown.values()].map(({ text }) => text)].join('\n')
  const body = section.body.split('\n')
  const plain = body.map(plainWords)
  const after = new Map<number, string>()
  let place = -1
  for (const exchange of said) {
    const start = plainWords(exchange.text).trim().split(' ').slice(0, startWords).join(' ')
    const found = start === '' ? -1 : plain.findIndex((line, index) => index > place && line.includes(` ${start} `))
    if (found >= 0) place = found
    const text = shown.get(exchange)?.text
    if (text !== undefined) after.set(place, `${after.get(place) ?? ''}\n${text}`)
  }
  const whole = [after.get(-1)?.slice(1) ?? [], body.map((line, index) => `${line}${after.get(index) ?? ''}`)].flat()
  return joinSections(sections.with(at, { ...section, body: whole.join('\n') }))
}

export type WordsOptions = {
  /** The agent has the recall tool. */
  readonly recall: boolean
  /** Characters of the words; a longer text keeps its beginning and its end. */
  readonly most?: number
}

/** `(in reply to: Which one?) "The first"`. A text of several lines is between tags. */
export function wordsText(exchange: Exchange, { recall, most = Number.POSITIVE_INFINITY }: WordsOptions): string {
  const { text, uuid } = exchange
  const shown = neutralize(condensed(text, most))
  const isPart = shown.includes('[pasted ') || shown.includes('[…]')
  const whole = isPart && uuid !== undefined && recall ? ` (in full: ${recallPointer(uuid)})` : ''
  return [leadOf(exchange), `${quoted(shown)}${whole}`].filter((part) => part !== '').join(' ')
}

function quoted(text: string): string {
  if (text === '') return ''
  return text.includes('\n') ? `\n<user-message>\n${text}\n</user-message>` : `"${text}"`
}

const maxAbout = 800

/** How something was said, without and with its subject: "approved the plan", "approved the plan: Rewrite it". */
export const leads: Readonly<Record<Exchange['kind'], readonly [alone: string, before: string]>> = {
  message: ['', 'in reply to: '],
  queued: ['while the agent was working', 'while the agent was working, in reply to: '],
  rejection: ['rejecting a tool call', 'rejecting the call '],
  approval: ['approved the plan', 'approved the plan: '],
  answer: ['answering a question', 'asked: '],
  task: ['from the agent that started this one', 'from the agent that started this one about: '],
}

/** "(while the agent was working)", "(asked: Which one?)"; nothing before a plain message. */
export function leadOf({ kind, about = '' }: Exchange): string {
  const [alone, before] = leads[kind]
  const what = neutralize(condensed(about, maxAbout)).replace(/\s*\n\s*/g, ' ')
  const lead = what === '' ? alone : `${before}${what}`
  return lead === '' ? '' : `(${lead})`
}

const locatorLength = 120

/** `On "Fix the gate."`: names a request that is quoted elsewhere. */
export function locator({ kind, text }: Exchange, start: 'On' | 'Then came' = 'On'): string {
  const words = neutralize(oneLine(text, locatorLength))
  if (words !== '') return `${start} "${words}"`
  if (kind === 'rejection') return `${start} a rejected call`
  return `${start} ${kind === 'approval' ? 'the approved plan' : 'a message without text'}`
}

/** `On "Fix the gate."` and `Then came a rejected call` are locators; `"On we go."` quotes the user. */
export function isLocator(item: string): boolean {
  return /^(?:On|Then came) (?:"|a |the )/.test(item)
}

/** True if the agent said or did something about it. An interruption is neither. */
export function isStarted({ report, steps = [], done }: Exchange): boolean {
  return report !== undefined || done !== undefined || steps.some(({ text }) => text !== interrupted)
}
