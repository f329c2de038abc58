// The part of a summary that is there whatever else fits: what people typed, the rules among it, the latest request at
// the end. Everything else is chosen to fill the room that is left.
import type { Typed } from '../ledger/facts.ts'
import { typedKey } from '../ledger/keys.ts'
import { constraintLine } from '../ledger/lines.ts'
import { typedRank } from '../ledger/rank.ts'
import { isRequest } from '../message/message.ts'
import { olderRulesLine } from '../prompts/recall.ts'
import {
  asksSomething,
  type CountTokens,
  fitMessage,
  fitMessages,
  type HumanMessage,
  humanMessages,
  latestRequest,
  type Shown,
  typedText,
} from './human.ts'
import { latestHeading } from './marks.ts'
import type { SummarySource } from './source.ts'

export type Frame = {
  /** Of what stands there because of it. */
  readonly tokens: number
  /** The lines of section 6. */
  readonly said: readonly string[]
  /** Rules that do not stand in section 6 word for word. */
  readonly rules: readonly string[]
  /** The latest request, with its heading; empty when it stands in what is kept. */
  readonly end: string
  readonly latest: HumanMessage | undefined
  readonly counts: { readonly total: number; readonly verbatim: number; readonly shortened: number }
  readonly messages: readonly HumanMessage[]
}

export type FrameOptions = {
  readonly budget: number
  readonly humanBudget: number
  readonly countTokens: CountTokens
  readonly recall: boolean
}

/** Of the whole budget, at most so much for what people typed. */
const humanShare = 0.5
const rulesShare = 0.25
/** A small page is for what is at hand. */
const earlierShare = (budget: number) => (budget < 8_000 ? 1 / 10 : 1 / 6)
/** Of that, at most so much for the first of it. */
const openingShare = 0.4
/** A latest request this short is told in its place too. */
const shortRequest = 40

export function frameOf(source: SummarySource, options: FrameOptions): Frame {
  const { budget, countTokens, recall } = options
  const messages = humanMessages(source.messages)
  const isKept = source.kept.some(({ origin }) => isRequest(origin))
  const latest = isKept ? undefined : latestRequest(messages)
  const room = Math.min(options.humanBudget, Math.floor(budget * humanShare))
  const atEnd = latest && fitMessage(latest, { tokens: room, countTokens, recall })
  const left = Math.max(0, room - (atEnd ? countTokens(atEnd.text) : 0))
  const isLong = atEnd !== undefined && countTokens(atEnd.text) > shortRequest
  const others = messages.filter((message) => !(isLong && message === latest))
  const fitted = fitMessages(others, { budget: left, countTokens, recall })
  const shownOf = new Map(others.map((message, at) => [message, fitted[at]]))
  const said = messages.map((message) => (isLong && message === latest ? atEnd : shownOf.get(message)))
  const lines = saidLines(messages, (message) => (isLong && message === latest ? 'at the end' : shownOf.get(message)))
  const spent = countTokens(lines.join('\n'))
  const before = earlierSaid(source, messages, {
    budget: Math.floor(Math.min((left - spent) * 0.6, budget * earlierShare(budget))),
    countTokens,
    recall,
  })
  const shown = [...before, ...lines, atEnd?.text ?? ''].join('\n')
  const rules = rulesOf(source, { shown, tokens: Math.floor(budget * rulesShare), countTokens, recall })
  return {
    tokens: countTokens([shown, ...rules].join('\n')),
    said: [...before, ...lines],
    rules,
    end: atEnd === undefined ? '' : `${latestHeading}\n${atEnd.text}`,
    latest,
    counts: {
      total: messages.length,
      verbatim: said.filter((one) => one?.isWhole === true).length,
      shortened: said.filter((one) => one?.isWhole === false).length,
    },
    messages,
  }
}

function saidLines(
  messages: readonly HumanMessage[],
  shown: (message: HumanMessage) => Shown | 'at the end' | undefined,
): readonly string[] {
  const lines: string[] = []
  let missing = 0
  for (const [at, message] of messages.entries()) {
    const one = shown(message)
    if (one === undefined) missing++
    else if (one === 'at the end') lines.push(`[${at + 1}] (the latest request: it stands at the end)`)
    else lines.push(saidLine(`[${at + 1}]`, one.text))
  }
  return missing === 0 ? lines : [`[1–${missing}] (left out for room: in the transcript)`, ...lines]
}

/** One line as it is; several between tags, so that no line of them reads as one of ours. */
function saidLine(label: string, text: string): string {
  if (!text.includes('\n')) return `${label} ${text}`
  const tag = text.includes('user-message') ? 'user-message-verbatim' : 'user-message'
  return `${label} <${tag}>\n${text}\n</${tag}>`
}

/** What people typed before the last compaction: the ledger carries it. */
function earlierSaid(
  { ledger }: SummarySource,
  current: readonly HumanMessage[],
  options: { readonly budget: number; readonly countTokens: CountTokens; readonly recall: boolean },
): readonly string[] {
  const known = new Set(current.flatMap(({ uuid, text }) => [uuid ?? text, text]))
  const isEarlier = (fact: Typed) => !known.has(typedKey(fact)) && !known.has(typedText(fact.text))
  const earlier = ledger.typed
    .filter(isEarlier)
    .map((fact) => ({ ...fact, text: typedText(fact.text) }))
    .filter(({ text }) => asksSomething(text))
  const [opening, ...others] = earlier
  if (!opening || options.budget < 60) return []
  // One of which nothing but a pointer would be left is not worth its line.
  const isTold = (one: Shown | undefined) => one !== undefined && !one.text.startsWith('[…')
  // How a session was opened says what holds for all of it, and grows old before anything else does.
  const { budget, ...how } = options
  const first = fitMessage(opening, { ...how, tokens: Math.floor(budget * openingShare) })
  const left = budget - how.countTokens(first.text)
  // Room goes to the last of a list.
  const ranked = others.toSorted((a, b) => typedRank(a, ledger.messages) - typedRank(b, ledger.messages))
  const fitted = fitMessages(ranked, { ...how, budget: left })
  const shownOf = new Map(ranked.map((message, at) => [message, fitted[at]]))
  const lines = [first, ...others.map((message) => shownOf.get(message))].flatMap((one) =>
    isTold(one) ? [saidLine('[before]', one?.text ?? '')] : [],
  )
  return lines.length === 0 ? [] : ['Before the last compaction:', ...lines, 'Since then:']
}

type RuleOptions = {
  readonly shown: string
  readonly tokens: number
  readonly countTokens: CountTokens
  readonly recall: boolean
}

/** Rules that stand nowhere else, the newest first to stay; where some had to leave, a line says so. */
function rulesOf({ ledger }: SummarySource, options: RuleOptions): readonly string[] {
  const { shown, tokens, countTokens, recall } = options
  const flat = shown.replace(/\s+/g, ' ')
  const lines = ledger.constraints
    .filter(({ text }) => !flat.includes(text))
    .toSorted((a, b) => b.last - a.last)
    .map(constraintLine)
  const gone = ledger.olderConstraints ?? 0
  const all = fitting(lines, tokens, countTokens)
  if (gone === 0 && all.length === lines.length) return all.toReversed()
  const costOfLine = countTokens(`${olderRulesLine(gone + lines.length, { recall })}\n`)
  if (costOfLine > tokens) return all.toReversed()
  const shorter = fitting(lines, tokens - costOfLine, countTokens)
  return [olderRulesLine(gone + lines.length - shorter.length, { recall }), ...shorter.toReversed()]
}

function fitting(lines: readonly string[], tokens: number, countTokens: CountTokens): readonly string[] {
  let left = tokens
  return lines.filter((line) => {
    const cost = countTokens(`${line}\n`)
    if (cost > left) return false
    left -= cost
    return true
  })
}
