// What the agent reported and a summary does not say. Beside a thorough summary this is little or nothing; beside a thin one
// it keeps the conclusions that would be lost. Whole lines of the agent's own reports, the newest first.
import type { Exchange } from '../../ledger/facts.ts'
import { oneLine } from '../../ledger/text.ts'
import { neutralize } from '../../text/neutralize.ts'
import { contentWords } from './plain-words.ts'

export type FactsOptions = {
  /** What the context says already. */
  readonly shown: string
  readonly tokens: number
  readonly countTokens: (text: string) => number
}

/** A line counts as said when so much of what it is about stands together in one passage. */
const saidShare = 0.6
const passage = 1_200
/** A line about fewer things is mostly a lead-in or a pleasantry. */
const leastWords = 6
const longestLine = 600

export function unsaidReports(exchanges: readonly Exchange[], options: FactsOptions): readonly string[] {
  const { countTokens } = options
  const isSaid = createPassages(options.shown)
  const groups: string[] = []
  let left = options.tokens
  for (const exchange of exchanges.toReversed()) {
    const lines = linesIn(exchange).filter((line) => isWorthTelling(line, isSaid))
    const head = `- After "${neutralize(oneLine(exchange.text, 120))}":`
    const kept = within(lines, { tokens: left - countTokens(`${head}\n`), countTokens })
    if (kept.length === 0) continue
    const group = [head, ...kept].join('\n')
    left -= countTokens(`${group}\n`)
    groups.unshift(group)
  }
  return groups
}

/** What was reported, line by line, then what was said and done before it, newest first. */
function linesIn({ report = '', steps = [] }: Exchange): readonly string[] {
  return [
    ...report.split('\n').filter((line) => !/^\s*(?:```|\|[\s|:-]+$)/.test(line)),
    ...steps.toReversed().flatMap(({ text }) => text.split('\n')),
  ].filter((line) => line.length <= longestLine)
}

function within(lines: readonly string[], { tokens, countTokens }: Omit<FactsOptions, 'shown'>): readonly string[] {
  let left = tokens
  const kept: string[] = []
  for (const line of lines) {
    const shown = `  ${neutralize(line.trim())}`
    const cost = countTokens(`${shown}\n`)
    if (cost > left) break
    left -= cost
    kept.push(shown)
  }
  return kept
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
