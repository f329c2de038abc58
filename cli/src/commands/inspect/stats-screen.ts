// The screen of `everlong inspect --stats`.
import { bytes, count, counted, cut, dollars, oneLine, padStart, percent, short, visible } from '@everlong/agent/render'
import { bar } from '../../render/bar.ts'
import { type Cell, facts, heading, headingWith, type Screen, table } from '../../render/screen.ts'
import type { Cost, ModelCost, StatsReport } from './stats.ts'

export function render(report: StatsReport, screen: Screen): readonly string[] {
  return [
    heading(cut(report.paths.map(visible).join(', '), screen.width), screen),
    ...facts(overview(report), screen),
    '',
    heading('Compactions', screen),
    ...facts(compactionFacts(report), screen),
    ...summaryRounds(report, screen),
    '',
    ...headingWith('Tokens and cost', 'sessions and sub-agents, as reported', screen),
    ...(report.models.length === 0 ? ['  no usage was reported'] : modelTable(report.models, screen)),
    ...costLines(report, screen),
    ...unreadableLines(report, screen),
  ]
}

function overview(report: StatsReport): readonly (readonly [string, string])[] {
  const agents = report.subagentFiles > 0 ? `, ${counted(report.subagentFiles, 'sub-agent file')}` : ''
  const without = report.withoutConversation.length
  const others = without > 0 ? `, ${count(without)} without a conversation` : ''
  const saved = report.salvaged > 0 ? `, ${counted(report.salvaged, 'record')} salvaged` : ''
  return [
    ['files', `${count(report.files)}, ${bytes(report.bytes)}${others}`],
    ['sessions', `${count(report.sessions)}${agents}`],
    [
      'entries',
      `${count(report.entries)}, ${counted(report.orphans, 'orphan')} (${percent(report.orphans, report.entries)})${saved}`,
    ],
  ]
}

function compactionFacts(report: StatsReport): readonly (readonly [string, string])[] {
  const triggers = Object.entries(report.byTrigger)
    .toSorted(([, a], [, b]) => b - a)
    .map(([trigger, times]) => `${count(times)} ${oneLine(trigger)}`)
  const share = percent(report.withCompactions, report.sessions)
  const all: readonly (readonly [string, string | undefined])[] = [
    ['sessions with', `${count(report.withCompactions)} of ${count(report.sessions)} (${share})`],
    ['in all', report.compactions === 0 ? 'none' : `${count(report.compactions)}: ${triggers.join(', ')}`],
    ['most in one', report.compactions === 0 ? undefined : count(report.mostInOneSession)],
    ['messages between', median(report.medianMessagesBetween)],
    ['tokens before', median(report.medianTokensBefore)],
    ['tokens after', median(report.medianTokensAfter)],
  ]
  return all.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]))
}

function median(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${count(value)} (median)`
}

const maxRounds = 12

/** Shows whether summaries grow from round to round, with a bar for each. */
function summaryRounds({ summaryRounds: rounds }: StatsReport, screen: Screen): readonly string[] {
  if (rounds.length === 0) return []
  const most = Math.max(...rounds.map(({ meanCharacters }) => meanCharacters))
  const digits = count(most).length
  const columns = Math.max(4, Math.min(40, screen.width - digits - 30))
  return [
    screen.paint('dim', '  summaries by round: mean length in characters'),
    ...rounds.slice(0, maxRounds).map(({ round, summaries, meanCharacters }) => {
      const picture = screen.paint('cyan', bar(meanCharacters / most, columns))
      const note = summaries === 1 ? '' : screen.paint('dim', `  of ${count(summaries)}`)
      return `  ${padStart(String(round), 4)}  ${padStart(count(meanCharacters), digits)}  ${picture}${note}`
    }),
    ...(rounds.length > maxRounds ? [`  … and ${counted(rounds.length - maxRounds, 'more round')} (--json)`] : []),
  ]
}

function modelTable(models: readonly ModelCost[], screen: Screen): readonly string[] {
  const columns = ['answers', 'input', 'cache read', 'written', 'output', 'cost'] as const
  return table(
    [{ name: 'model' }, ...columns.map((name) => ({ name, align: 'right' }) as const)],
    models.map(modelRow),
    screen,
  )
}

function modelRow({ model, answers, tokens, cost }: ModelCost): readonly Cell[] {
  return [
    cut(oneLine(model), 28),
    count(answers),
    short(tokens.input),
    short(tokens.cacheRead),
    short(tokens.cacheWrite),
    short(tokens.output),
    dollars(cost),
  ]
}

function costLines(report: StatsReport, screen: Screen): readonly string[] {
  const { recorded, estimated } = report.compactionCost
  const pairs: (readonly [string, string])[] = [['in all', costInWords(report.cost)]]
  if (report.repeatedAnswers > 0)
    pairs.push([
      'found again',
      `${counted(report.repeatedAnswers, 'answer')} in further files (resumed sessions), counted once`,
    ])
  if (recorded.compactions > 0)
    pairs.push([
      'compaction, measured',
      `${costInWords(recorded)} for ${counted(recorded.compactions, 'recorded run')}, not in the sum`,
    ])
  if (estimated.compactions > 0)
    pairs.push([
      'compaction, estimated',
      `${costInWords(estimated)} for ${counted(estimated.compactions, 'compaction')} without a recorded run, not in the sum: context read from the cache, summary written`,
    ])
  return facts(pairs, screen)
}

function costInWords({ dollars: sum, withoutPrice }: Cost): string {
  const unknown = withoutPrice.length === 0 ? '' : ` (without ${withoutPrice.map(oneLine).join(', ')}: no price known)`
  return dollars(sum) + unknown
}

const maxUnreadable = 10

function unreadableLines({ unreadable }: StatsReport, screen: Screen): readonly string[] {
  if (unreadable.length === 0) return []
  return [
    '',
    heading(`Could not be read: ${count(unreadable.length)}`, screen),
    ...unreadable
      .slice(0, maxUnreadable)
      .map(({ path, reason }) => screen.paint('red', cut(`  ${visible(path)}: ${oneLine(reason)}`, screen.width))),
    ...(unreadable.length > maxUnreadable ? [`  … and ${count(unreadable.length - maxUnreadable)} more (--json)`] : []),
  ]
}
