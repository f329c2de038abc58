// What the agent reported and a summary does not say. Beside a thorough summary this is little or nothing; beside a thin one
// it keeps the conclusions that would be lost. Whole lines of the agent's own reports, the newest first.
import type { Exchange, Step } from '../../ledger/facts.ts'
import { oneLine } from '../../ledger/text.ts'
import { neutralize } from '../../text/neutralize.ts'
import { contentWords } from './plain-words.ts'

export type FactsOptions = {
  /** What the context says already. */
  readonly shown: string
  readonly tokens: number
  /** The summary is thin: more than the latest reports is worth telling. */
  readonly isThin: boolean
  readonly countTokens: (text: string) => number
}

/** A line counts as said when so much of what it is about stands together in one passage. */
const saidShare = 0.6
const passage = 1_200
/** A line about fewer things is mostly a lead-in or a pleasantry. */
const leastWords = 6
const longestLine = 600

/** Reports before what was said on the way, and that before what was done; of each the newest first. */
const inOrder = [reportLines, linesOf('said'), linesOf('did')] as const

export function unsaidReports(exchanges: readonly Exchange[], options: FactsOptions): readonly string[] {
  const { countTokens, isThin } = options
  const isSaid = createPassages(options.shown)
  const standing = exchanges.filter(({ report }, at) => report !== undefined && !isOverruled(exchanges[at + 1]))
  // The latest three, like the user's messages that are never shortened.
  const told = isThin ? standing : standing.slice(-3)
  const kept = new Map<Exchange, string[]>()
  let left = options.tokens
  for (const linesIn of isThin ? inOrder : inOrder.slice(0, 1)) {
    for (const exchange of told.toReversed()) {
      for (const line of linesIn(exchange)) {
        if (line.length > longestLine || !isWorthTelling(line, isSaid)) continue
        const known = kept.get(exchange) ?? [headOf(exchange)]
        const shown = `  ${neutralize(line.trim())}`
        const cost = countTokens([...(kept.has(exchange) ? [] : known), shown, ''].join('\n'))
        if (cost > left) return exchanges.flatMap((one) => kept.get(one) ?? [])
        left -= cost
        kept.set(exchange, [...known, shown])
      }
    }
  }
  return exchanges.flatMap((exchange) => kept.get(exchange) ?? [])
}

/** The user turned down what the agent was about to do: what it had reported holds no more. */
function isOverruled(next: Exchange | undefined): boolean {
  return next?.kind === 'rejection' && next.text !== ''
}

function headOf({ text }: Exchange): string {
  return `- After "${neutralize(oneLine(text, 120))}":`
}

function reportLines({ report = '' }: Exchange): readonly string[] {
  return report.split('\n').filter((line) => !/^\s*(?:```|\|[\s|:-]+$)/.test(line))
}

function linesOf(kind: Step['type']): (exchange: Exchange) => readonly string[] {
  return ({ steps = [], report = '' }) =>
    steps
      .filter(({ type, text }) => type === kind && !report.startsWith(text))
      .toReversed()
      .flatMap(({ text }) => text.split('\n'))
}

function isWorthTelling(line: string, isSaid: (words: readonly string[]) => boolean): boolean {
  const words = contentWords(line)
  return words.length >= leastWords && !isSaid(words)
}

/** The content words of overlapping passages of a text, each looked at once. */
function createPassages(text: string): (words: readonly string[]) => boolean {
  const passages: ReadonlySet<string>[] = []
  for (let at = 0; at < text.length; at += passage / 2) {
    passages.push(new Set(contentWords(text.slice(at, at + passage))))
  }
  return (words) => passages.some((known) => words.filter((word) => known.has(word)).length >= words.length * saidShare)
}
