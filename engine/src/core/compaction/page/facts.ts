// What the agent reported and a summary does not say. Beside a thorough summary this is little or nothing; beside a thin one
// it keeps the conclusions that would be lost. Whole lines of the agent's own reports, the newest first.
import type { Exchange, Step } from '../../ledger/facts.ts'
import { withoutCode } from '../../ledger/report.ts'
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

/** First what is going on, with half of the room; then the rest of the conversation. */
export function unsaidReports(exchanges: readonly Exchange[], options: FactsOptions): readonly string[] {
  const isSaid = createPassages(options.shown)
  const current = exchanges.findLast(({ steps = [] }) => steps.length > 0)
  const others = exchanges.filter((exchange) => exchange !== current)
  const told = linesWithin(current ? [current] : [], { ...options, tokens: options.tokens / 2, isSaid })
  const more = linesWithin(others, { ...options, tokens: options.tokens - told.used, isSaid })
  return exchanges.flatMap((exchange) => told.kept.get(exchange) ?? more.kept.get(exchange) ?? [])
}

type Told = { readonly kept: ReadonlyMap<Exchange, readonly string[]>; readonly used: number }
type Telling = FactsOptions & { readonly isSaid: (words: readonly string[]) => boolean }

/** Reports before what was said on the way, and that before what was done; of each the newest first, until one is too much. */
function linesWithin(exchanges: readonly Exchange[], { tokens, countTokens, isSaid }: Telling): Told {
  const kept = new Map<Exchange, readonly string[]>()
  let used = 0
  for (const linesIn of [reportLines, linesOf('said'), linesOf('did')]) {
    for (const exchange of exchanges.toReversed()) {
      for (const line of linesIn(exchange)) {
        if (line.length > longestLine || !isWorthTelling(line, isSaid)) continue
        const known = kept.get(exchange) ?? []
        const more = [...(known.length === 0 ? [headOf(exchange)] : []), `  ${neutralize(line.trim())}`]
        const cost = countTokens(`${more.join('\n')}\n`)
        if (used + cost > tokens) return { kept, used }
        used += cost
        kept.set(exchange, [...known, ...more])
      }
    }
  }
  return { kept, used }
}

function headOf({ text }: Exchange): string {
  return `- After "${neutralize(oneLine(text, 120))}":`
}

function reportLines({ report = '' }: Exchange): readonly string[] {
  return withoutCode(report)
    .split('\n')
    .filter((line) => !/^\s*\|[\s|:-]+$/.test(line))
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
