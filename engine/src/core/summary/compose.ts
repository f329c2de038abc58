// One summary from its source: a model's prose checked and mended, or code's own, with the facts beside it, within a
// budget that is never exceeded. The same input gives the same bytes.
import { wordsIn } from '../ledger/choose.ts'
import { costBy, fillPage, noChoice } from '../ledger/fill.ts'
import { unitsOf } from '../ledger/units.ts'
import type { FidelityReport } from '../ports/fidelity.ts'
import { type Frame, frameOf } from './frame.ts'
import { fitMessage } from './human.ts'
import { codeLines, offlineLines, offlinePage } from './offline.ts'
import { type PageOptions, pageOf } from './page.ts'
import type { ComposedSummary, ComposeOptions } from './source.ts'
import { reportsOf } from './steps.ts'
import { sourceText } from './support.ts'
import { contestedProse, type MendedProse, mendProse, oldFileLines, wholeProsePage } from './verify.ts'

const defaults = { humanBudget: 8000, ledgerBudget: 4000 } as const

/** With so much room for facts beside it, the prose stands whole. */
const enoughFacts = 12_000

/** Less and less for what is there in any case, until it fits. */
const shrinking = [1, 0.5, 0.25, 0.1] as const

export function composeSummary(options: ComposeOptions): ComposedSummary {
  const { source, budget, countTokens, recall = true, prose } = options
  const mended = prose === undefined ? undefined : mendProse(prose, source)
  for (const share of shrinking) {
    const frame = frameOf(source, {
      budget: Math.floor(budget * share),
      humanBudget: options.humanBudget ?? defaults.humanBudget,
      countTokens,
      recall,
    })
    const room = Math.floor(budget * share)
    const text = mended === undefined ? fillOffline(frame, room, options) : fillBeside(frame, mended, options)
    const tokens = countTokens(text)
    if (tokens <= budget) return { text, tokens, report: reportOf(frame, { mended, text, countTokens }) }
  }
  return tiny(options)
}

function fillOffline(frame: Frame, room: number, options: ComposeOptions): string {
  const { source, budget, variant = 'full', instructions = '' } = options
  const left = Math.max(0, room - frame.tokens)
  const reports = reportsOf(source.messages)
  const page = offlinePage(frame, { source, reports, variant, room: left, instructions })
  return fill(page, { options, budget, lines: offlineLines(source, { reports, budget, room: left, instructions }) })
}

/** The prose whole and the facts in their budget; where that is too much, the lines of both compete for the room. */
function fillBeside(frame: Frame, mended: MendedProse, options: ComposeOptions): string {
  const { source, budget, countTokens, ledgerBudget = defaults.ledgerBudget, variant = 'full' } = options
  const whole = wholeProsePage(frame, mended, { variant, source })
  const bare = countTokens(pageOf(noChoice, whole))
  // The rules among the facts are part of them: a page that they made longer would grow from round to round.
  const rules = countTokens((whole.fixed.facts ?? []).join('\n'))
  const wanted = Math.min(ledgerBudget, enoughFacts) - rules
  if (bare + wanted <= budget) {
    return fill(whole, {
      options,
      budget: Math.min(budget, bare - rules + ledgerBudget),
      lines: [...oldFileLines(mended, source), ...codeLines(source, budget)],
    })
  }
  const { page, lines } = contestedProse(frame, mended, { variant, room: budget - frame.tokens })
  return fill(page, { options, budget, lines: [...lines, ...codeLines(source, budget)] })
}

type Filling = {
  readonly options: ComposeOptions
  readonly budget: number
  readonly lines: Parameters<typeof unitsOf>[2]
}

function fill(bare: PageOptions, { options, budget, lines }: Filling): string {
  const { source, countTokens } = options
  const since = source.ledger.messages - source.messages.length
  const said = pageOf(noChoice, bare)
  const units = unitsOf(source.ledger, { budget, since, said, cost: costBy(countTokens) }, lines)
  const offered = new Set(units.map((unit) => (unit.type === 'name' ? unit.home.section : unit.section)))
  const page = { ...bare, offered }
  return fillPage(units, {
    budget,
    countTokens,
    page: (choice) => pageOf(choice, page),
    shown: wordsIn(`${said}\n${sourceText(source.kept)}`),
  })
}

type Reporting = {
  readonly mended: MendedProse | undefined
  readonly text: string
  readonly countTokens: ComposeOptions['countTokens']
}

function reportOf(frame: Frame, { mended, text, countTokens }: Reporting): FidelityReport {
  const facts = text.indexOf('\n## Facts beside the summary')
  const end = frame.end === '' ? text.length : text.lastIndexOf(frame.end)
  return {
    humanMessages: { ...frame.counts, putIn: mended?.putIn(frame.messages) ?? frame.counts.total },
    falseQuotes: mended?.falseQuotes ?? [],
    inferredApprovals: mended?.inferredApprovals ?? [],
    unsupported: mended?.unsupported ?? [],
    missingSections: mended?.missingSections ?? [],
    ledgerTokens: facts < 0 ? 0 : countTokens(text.slice(facts, end)),
  }
}

/** Not even the headings fit: the latest request, as much of it as goes in. */
function tiny({ source, budget, countTokens, recall = true }: ComposeOptions): ComposedSummary {
  const frame = frameOf(source, { budget, humanBudget: budget, countTokens, recall })
  const shown = frame.latest && fitMessage(frame.latest, { tokens: budget, countTokens, recall })
  const text = shown !== undefined && countTokens(shown.text) <= budget ? shown.text : ''
  const isWhole = text !== '' && shown?.isWhole === true
  const counts = { total: frame.counts.total, verbatim: isWhole ? 1 : 0, shortened: text !== '' && !isWhole ? 1 : 0 }
  const report = reportOf({ ...frame, counts, end: '' }, { mended: undefined, text, countTokens })
  return { text, tokens: countTokens(text), report }
}
