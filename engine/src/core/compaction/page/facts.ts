// What the agent reported, said or did and the context does not say yet, under what the user had asked. Beside a thorough
// summary this is little or nothing; beside a thin one it keeps the conclusions that would be lost.
import type { Exchange } from '../../ledger/facts.ts'
import { withoutAnnouncement } from '../../ledger/steps.ts'
import { oneLine } from '../../ledger/text.ts'
import { withoutCode } from '../../text/condense.ts'
import type { TokenLimit } from '../../text/cut.ts'
import { neutralize } from '../../text/neutralize.ts'
import { contentWords } from './plain-words.ts'
import { isLeadIn, proseBlocks } from './sections.ts'

export type FactsOptions = TokenLimit & {
  /** What the context says already. */
  readonly shown: string
  /** Also what was said and done on the way, which only a thin summary leaves out. */
  readonly withSteps: boolean
}

/** A line counts as said when so much of what it is about stands together in one passage. */
const saidShare = 0.6
const passage = 1_200
/** A line about fewer things is mostly a lead-in or a pleasantry. */
const leastWords = 6
const longestLine = 600

/** A paragraph, or the items of a list or rows of a table behind what introduces them. */
type Told = { readonly lead?: string | undefined; readonly lines: string[] }

/** The newest exchange first, and of each the report before what was said and done on the way. */
export function unsaidReports(
  exchanges: readonly Exchange[],
  { shown, tokens, withSteps, countTokens }: FactsOptions,
): readonly string[] {
  const isSaid = createPassages(shown)
  let left = tokens
  const told = exchanges.toReversed().map((exchange) => {
    const head = `- After "${neutralize(oneLine(exchange.text, 120))}":`
    const kept: string[] = []
    for (const part of withSteps ? toldBy(exchange) : toldIn(exchange.report ?? '')) {
      const unsaid = unsaidIn(part, isSaid).map((line) => `  ${neutralize(line.trimEnd())}`)
      const lines = kept.length === 0 ? [head, ...unsaid] : unsaid
      const cost = countTokens(`${lines.join('\n')}\n`)
      if (unsaid.length === 0 || cost > left) continue
      left -= cost
      kept.push(...lines)
    }
    return kept
  })
  return told.toReversed().flat()
}

function toldBy({ report = '', steps = [], done = '' }: Exchange): readonly Told[] {
  const newest = steps.filter(({ text }) => !report.startsWith(text)).toReversed()
  const said = newest.filter(({ type }) => type === 'said').flatMap(({ text }) => toldIn(text))
  const did = newest
    .filter(({ type }) => type === 'did')
    .map(({ text }) => {
      const [lead = '', ...lines] = text.split('\n')
      return lines.length === 0 ? { lines: [lead] } : { lead, lines }
    })
  return [...toldIn(report), ...said, ...did, { lines: done === '' ? [] : [done] }]
}

/** The statements of a text: no code, no headings or lead-ins by themselves, no questions, nothing that only announces. */
function toldIn(text: string): readonly Told[] {
  const told: Told[] = []
  let lead: string | undefined
  let before: string | undefined
  for (const block of proseBlocks(withoutCode(text))) {
    const { kind, text: line } = block
    if (/^[\s|:-]+$/.test(line)) continue
    if (isLeadIn(block)) lead = line
    else if (kind === 'paragraph') {
      if (isStatement(line)) told.push({ lines: [line] })
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

/** A list or table of which most is new is told whole: what is left out of it would seem to be dealt with. */
function unsaidIn({ lead, lines }: Told, isSaid: (words: readonly string[]) => boolean): readonly string[] {
  const unsaid = lines.filter((line) => line.length <= longestLine && !isSaid(contentWords(line)))
  const isMost = lines.length > 1 && unsaid.length * 2 > lines.length
  const told = isMost ? lines : unsaid.filter((line) => contentWords(line).length >= leastWords)
  return told.length === 0 || lead === undefined ? told : [lead, ...told]
}

/** The content words of overlapping passages of a text, each looked at once. */
function createPassages(text: string): (words: readonly string[]) => boolean {
  const passages: ReadonlySet<string>[] = []
  for (let at = 0; at < text.length; at += passage / 2) {
    passages.push(new Set(contentWords(text.slice(at, at + passage))))
  }
  return (words) => passages.some((known) => words.filter((word) => known.has(word)).length >= words.length * saidShare)
}
