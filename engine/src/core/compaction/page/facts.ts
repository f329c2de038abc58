// What the agent reported and a summary does not say. Beside a thorough summary this is little or nothing; beside a thin one
// it keeps the conclusions that would be lost. Whole lines of the agent's own reports, the newest first.
import type { Exchange, Step } from '../../ledger/facts.ts'
import { withoutAnnouncement } from '../../ledger/steps.ts'
import { oneLine } from '../../ledger/text.ts'
import { withoutCode } from '../../text/condense.ts'
import type { TokenLimit } from '../../text/cut.ts'
import { neutralize } from '../../text/neutralize.ts'
import { contentWords, createPassages } from './plain-words.ts'
import { isLeadIn, type ProseBlock, proseBlocks } from './sections.ts'

export type FactsOptions = TokenLimit & {
  /** What the context says already. */
  readonly shown: string
  /** The first message that the summary's author read. */
  readonly since: number
  /** The summary is thin: more than the latest reports is worth telling. */
  readonly isThin: boolean
}

/** A line about fewer things is mostly a lead-in or a pleasantry. */
const leastWords = 6
const longestLine = 600

/** A paragraph, or the items of a list or rows of a table behind what introduces them. */
type Told = {
  readonly lead?: string | undefined
  readonly lines: readonly string[]
  /** What the agent did, which needs no word on what it was asked. */
  readonly isDeed?: true
}

const reported = ({ report = '' }: Exchange) => toldIn(report)
const said = (exchange: Exchange) => stepsOf(exchange, 'said').flatMap(toldIn)
const done = (exchange: Exchange) =>
  stepsOf(exchange, 'did').map((text): Told => {
    const [lead = '', ...lines] = text.split('\n')
    return lines.length === 0 ? { lines: [lead] } : { lead, lines }
  })
/** Beside a thorough summary only what names something and says nothing about a state that may have changed since. */
const named = (exchange: Exchange) =>
  reported(exchange).map(({ lead, lines }) => ({
    lead,
    lines: lines.filter((line) => naming.test(line) && !ofState.test(line)),
  }))
const naming = /`|\d{3}|\w[/_]\w|[a-z][A-Z]|\w\.\w{2}/
const ofState =
  /\b(?:commits?|committed|pushed|shipped|merged|clean|green|pass(?:es|ed|ing)?|ready|remaining|pending|still|now|next)\b/i
const last = ({ done: text = '' }: Exchange): readonly Told[] => (text === '' ? [] : [{ lines: [text], isDeed: true }])

type Pass = {
  readonly toldOf: (exchange: Exchange) => readonly Told[]
  /** The newest first. */
  readonly exchanges: readonly Exchange[]
}

/**
 * Of what the author of a thorough summary read, the latest three reports are looked through, and of what was said before
 * the last compaction, which the author never saw, all, in four fifths of the room. Beside a thin summary everything counts, first all that happened since the user last spoke: it may not be reported
 * yet.
 */
function passesOver(exchanges: readonly Exchange[], { isThin, since }: FactsOptions): readonly Pass[] {
  const standing = exchanges.filter(({ report }, at) => report !== undefined && !isOverruled(exchanges[at + 1]))
  const earlier = standing.filter(({ last: time }) => time < since)
  const passes = (some: readonly Exchange[], ways: readonly Pass['toldOf'][]) =>
    ways.map((toldOf) => ({ toldOf, exchanges: some.toReversed() }))
  if (!isThin)
    return [
      ...passes(standing.filter(({ last: time }) => time >= since).slice(-3), [named]),
      ...passes(earlier, [named, last]),
    ]
  const ways = [reported, said, done, last]
  return [...passes(standing.slice(-1), ways), ...passes(standing.slice(0, -1), ways)]
}

export function unsaidReports(exchanges: readonly Exchange[], options: FactsOptions): readonly string[] {
  const { countTokens, since, tokens, isThin } = options
  const isSaid = createPassages(options.shown)
  const kept = new Map<Exchange, readonly string[]>()
  let left = tokens
  for (const { toldOf, exchanges: some } of passesOver(exchanges, options)) {
    for (const exchange of some) {
      for (const told of toldOf(exchange)) {
        const unsaid = unsaidIn(told, isSaid).map((line) => neutralize(line.trimEnd()))
        if (unsaid.length === 0) continue
        const known = kept.get(exchange)
        const lines = known ? unsaid.map(indented) : withHead(unsaid, { exchange, told, since })
        const cost = countTokens(`${lines.join('\n')}\n`)
        if (cost > left - (isThin || exchange.last >= since ? 0 : tokens / 5)) continue
        left -= cost
        kept.set(exchange, [...(known ?? []), ...lines])
      }
    }
  }
  return exchanges.flatMap((exchange) => kept.get(exchange) ?? [])
}

/** The user turned down what the agent was about to do: what it had reported holds no more. */
function isOverruled(next: Exchange | undefined): boolean {
  return next?.kind === 'rejection' && next.text !== ''
}

type Under = { readonly exchange: Exchange; readonly told: Told; readonly since: number }

/** Under what the user had asked. A deed, and a single statement from long ago, stand by themselves. */
function withHead(lines: readonly string[], { exchange, told, since }: Under): readonly string[] {
  const isEarlier = exchange.last < since
  if (told.isDeed) return [`- ${isEarlier ? 'Earlier the' : 'The'} agent ${lines.join(' ')}`]
  if (isEarlier && lines.length === 1) return [`- Earlier: ${lines[0]}`]
  return [`- ${isEarlier ? 'Earlier, after' : 'After'} ${requestIn(exchange)}:`, ...lines.map(indented)]
}

/** A rejection, and an approval, may have no words. */
function requestIn({ kind, text }: Exchange): string {
  const words = neutralize(oneLine(text, 120))
  if (words !== '') return `"${words}"`
  if (kind === 'rejection') return 'the user rejected a call'
  return kind === 'approval' ? 'the user approved a plan' : 'a message without text'
}

function indented(line: string): string {
  return `  ${line}`
}

/** The statements of a text: no code, no headings or lead-ins by themselves, no questions, nothing that only announces. */
function toldIn(text: string): readonly Told[] {
  const told: { lead: string | undefined; lines: string[] }[] = []
  let lead: string | undefined
  let before: ProseBlock['kind'] | undefined
  for (const block of proseBlocks(withoutCode(text))) {
    const { kind, text: line } = block
    if (/^[\s|:-]+$/.test(line)) continue
    if (isLeadIn(block)) lead = line
    else if (kind === 'paragraph') {
      if (isStatement(line)) told.push({ lead: undefined, lines: [line] })
      lead = undefined
    } else if (kind === before) told.at(-1)?.lines.push(line)
    // The head of a table introduces its rows, whatever stands before it.
    else if (kind === 'row') told.push({ lead: line, lines: [] })
    else told.push({ lead, lines: [line] })
    before = kind
  }
  return told
}

function isStatement(line: string): boolean {
  return !/[?？]\s*$/.test(line) && withoutAnnouncement(line) !== ''
}

/** The newest first. */
function stepsOf({ steps = [], report = '' }: Exchange, kind: Step['type']): readonly string[] {
  return steps
    .filter(({ type, text }) => type === kind && !report.startsWith(text))
    .map(({ text }) => text)
    .toReversed()
}

/** A list or table of which most is new is told whole: what is left out of it would seem to be dealt with. */
function unsaidIn({ lead, lines, isDeed }: Told, isSaid: (words: readonly string[]) => boolean): readonly string[] {
  const unsaid = lines.filter((line) => line.length <= longestLine && !isSaid(contentWords(line)))
  const isMost = lines.length > 1 && unsaid.length * 2 > lines.length
  const told = isMost ? lines : unsaid.filter((line) => isDeed || contentWords(line).length >= leastWords)
  return told.length === 0 || lead === undefined ? told : [lead, ...told]
}
