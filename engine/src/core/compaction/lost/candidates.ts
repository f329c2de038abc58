// Facts whose loss in a compaction would do harm, and how to recognize each of them in a context.
import type { ErrorFact, Exchange, Ledger, Rule } from '../../ledger/facts.ts'
import { rulesIn, sentencesOf, withoutPasted } from '../../ledger/rules.ts'
import { interrupted } from '../../ledger/steps.ts'
import type { Action } from '../../tools/actions.ts'
import { toolJob } from '../../tools/call.ts'
import type { Entry } from '../../transcript/format/entry.ts'
import { type ActionFact, latestActions } from '../page/action-claims.ts'
import { isConsent } from '../page/claims.ts'
import { isPassedOver } from '../page/state.ts'
import { type Context, topicOf } from './contexts.ts'

/** Most harmful first. */
export const lostTypes = ['rule', 'decision', 'request', 'failure', 'command', 'file'] as const

export type LostType = (typeof lostTypes)[number]

export type LostFact = {
  readonly type: LostType
  /** The user's words, the command or the path, verbatim. For a failure, the line that reported it. */
  readonly text: string
  /** The answered question, the rejected call or the failed command. For a command, how it failed. */
  readonly about?: string
  /** The agent's finding about a failure. */
  readonly cause?: string
  /** Set if another agent said it instead of a person. */
  readonly by?: 'agent'
  /** Uuid of its message. */
  readonly uuid: string
  readonly line: number
  readonly time?: string
  /** The compaction after which no context contained it. 1 is the first. */
  readonly compaction: number
}

export type KnownFacts = {
  readonly ledger: Ledger
  /** The ledger at each compaction that was not undone, oldest first. */
  readonly before: readonly Ledger[]
  /** The entry at a time of the ledger. */
  readonly entryAt: (time: number) => Entry | undefined
  readonly entryOf: (uuid: string) => Entry | undefined
}

export type Candidate = Pick<LostFact, 'type' | 'text' | 'about' | 'cause' | 'by'> & {
  /** Time of the last mention or action, in the ledger's time. */
  readonly last: number
  readonly uuid?: string
  /** Words of a person or agent, which can only be compared with text in the same language. */
  readonly isWords: boolean
  readonly isHeld: (context: Context) => boolean
}

export function candidatesIn({ ledger, before }: Pick<KnownFacts, 'ledger' | 'before'>): readonly Candidate[] {
  const { rules, exchanges, errors } = ledger
  return [
    ...rules.filter(({ text }) => !deliberation.test(text)).map(ruleCandidate),
    ...exchanges.filter(isDecision).flatMap(decisionCandidate),
    ...openRequests(before).flatMap(requestCandidate),
    ...errors.flatMap(failureCandidate),
    ...inUse(before),
  ]
}

/** "Let's think how to enforce …" contains an order but is none. */
const deliberation = /^\W*let(?:'|’)?s (?:think|see|discuss|talk|consider|figure|explore|look)\b/i

function ruleCandidate({ text, by, last, uuid }: Rule): Candidate {
  const words = topicOf(text)
  const names = namesIn(text)
  return {
    ...{ type: 'rule', text, last, isWords: true },
    // A single name may be mentioned for any reason.
    isHeld: (context) => context.holds(text) || context.says(words) || (names.length > 1 && context.names(names)),
    ...(by === 'agent' ? { by } : {}),
    ...(uuid === undefined ? {} : { uuid }),
  }
}

/** Paths, addresses, versions and identifiers. */
function namesIn(text: string): readonly string[] {
  return [
    ...new Set(text.match(/(?<![\w@~-])[\w@~-]{0,80}\w[./\\_]\w[\w./\\-]{0,200}|\b[a-z]{1,40}[A-Z]\w{0,80}/g) ?? []),
  ]
}

/** A reply that refuses, or chooses among options that the agent named. */
const choice =
  /^\W*(?:no|nope|not|don['’]?t|neither|none|rather|instead)\b|(?<![\w.])#?\d{1,2}(?![\w.])|\b(?:first|second|third|both|options?|former|latter)\b|^\W*[a-h]\W*$/i

/** An answer to a question from a tool, a rejected call, or a choice. */
function isDecision({ kind, text, about }: Exchange): boolean {
  if (kind === 'answer' || kind === 'rejection') return true
  if ((kind !== 'message' && kind !== 'queued') || about === undefined) return false
  return choice.test(text) && !/[?？]\s*$/.test(text)
}

function decisionCandidate({ text, about, last, uuid }: Exchange): readonly Candidate[] {
  const own = withoutRules(text)
  // Its rules are listed separately.
  if (own === '' && text !== '') return []
  const words = isConsent(own) ? [] : topicOf(own)
  // "No" and "both" mean nothing without the question.
  const telling = words.length > 0 ? [words] : sentencesOf(about ?? '').map(topicOf)
  return [
    {
      ...{ type: 'decision', text: own, last, isWords: true },
      isHeld: (context) => (words.length > 0 && context.holds(own)) || telling.some(context.says),
      ...(about === undefined ? {} : { about }),
      ...(uuid === undefined ? {} : { uuid }),
    },
  ]
}

/** Requests before the last compaction that may still be open: the newest, and those without a reply, except questions. */
function openRequests(before: readonly Ledger[]): readonly Exchange[] {
  const exchanges = before.at(-1)?.exchanges ?? []
  const since = before.at(-2)?.messages ?? 0
  return exchanges.filter((exchange, at) => {
    if (exchange.last < since || exchange.kind === 'approval' || isDecision(exchange)) return false
    const next = exchanges[at + 1]
    if (next === undefined) return true
    const isFollowed = next.kind === 'message' || next.kind === 'queued'
    const isOpen = (isFollowed && isPassedOver(exchange, next)) || exchange.steps?.at(-1)?.text === interrupted
    return isOpen && !/[?？]\s*$/.test(exchange.text)
  })
}

/** A summary may quote only the beginning of a long request, or mention only a part of it. */
const firstWords = 6

function requestCandidate({ kind, text, last, uuid }: Exchange): readonly Candidate[] {
  const own = withoutRules(text)
  const sentences = sentencesOf(own).map(topicOf)
  if (isConsent(own) || topicOf(own).length === 0) return []
  const start = own.split(/\s+/).slice(0, firstWords).join(' ')
  return [
    {
      ...{ type: 'request', text: own, last, isWords: true },
      isHeld: (context) =>
        context.holds(start) || sentences.some(context.says) || namesIn(own).some((name) => context.names([name])),
      ...(kind === 'task' ? { by: 'agent' } : {}),
      ...(uuid === undefined ? {} : { uuid }),
    },
  ]
}

/** A message without its rules, pasted blocks and pictures. */
function withoutRules(text: string): string {
  const rules = new Set(rulesIn(text))
  const isOwn = (sentence: string) => !rules.has(sentence) && !/^\[(?:pasted |image\]|document\])/.test(sentence)
  return sentencesOf(withoutPasted(text)).filter(isOwn).join(' ')
}

/** Only a command that failed, was understood and worked later is a lesson. An edit that missed its place is not. */
function failureCandidate({ what, line, cause, isFixed, last }: ErrorFact): readonly Candidate[] {
  const isCommand = toolJob(what.split(' ', 1)[0] ?? '') === undefined
  if (!isCommand || !isFixed || cause === undefined) return []
  const [failed, understood] = [topicOf(line), topicOf(cause)]
  return [
    {
      ...{ type: 'failure', text: line, about: what, cause, last, isWords: false },
      isHeld: (context) => context.holds(line) || context.says(failed) || context.says(understood),
    },
  ]
}

/** Every agent knows how to commit, push and install. */
const wellKnown: ReadonlySet<Action> = new Set(['commit', 'push', 'install'])

/** The files and commands of the work at the time of the last compaction. */
function inUse(before: readonly Ledger[]): readonly Candidate[] {
  const ledger = before.at(-1)
  if (ledger === undefined) return []
  const since = before.at(-2)?.messages ?? 0
  const committed = Math.max(since - 1, ledger.repository.gitLast, ...ledger.commits.map(({ last }) => last))
  const runs = latestActions(ledger.commands).filter(({ action, last }) => last >= since && !wellKnown.has(action))
  return [
    ...runs.map(commandCandidate),
    ...ledger.files.filter(({ last }) => last > committed).map(({ path, last }) => fileCandidate(path, last)),
  ]
}

function commandCandidate({ text, last, ended, outcome }: ActionFact): Candidate {
  const words = topicOf(text)
  return {
    ...{ type: 'command', text, last, isWords: false },
    ...(ended === 'badly' && outcome !== '' ? { about: outcome } : {}),
    isHeld: (context) => context.holds(text) || context.shows(words),
  }
}

function fileCandidate(path: string, last: number): Candidate {
  const name = path.split(/[/\\]/).at(-1) ?? path
  return { type: 'file', text: path, last, isWords: false, isHeld: (context) => context.text().includes(name) }
}
