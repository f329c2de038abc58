// The screen of the tour: a few short sections that somebody who has never seen a compaction can follow.
import {
  bytes,
  columnsOf,
  count,
  counted,
  cut,
  duration,
  oneLine,
  padEnd,
  percent,
  stateStyles,
  visible,
} from '@everlong/agent/render'
import { epochsPicture } from '../render/epochs-picture.ts'
import { compositionBar, legend } from '../render/kinds.ts'
import { ruler } from '../render/ruler.ts'
import { commandList, heading, headingWith, paragraph, type Screen } from '../render/screen.ts'
import type { TourReport } from './tour.ts'

export function render(report: TourReport, screen: Screen): readonly string[] {
  return [
    ...welcome(report, screen),
    ...section('1  The session in epochs', screen),
    ...epochsPicture(report.epochs, screen),
    ...paragraph('Bars are tokens in the context. ░ is what a compaction left, █ what came after it.', screen, 'dim'),
    ...section('2  What the context is made of now', screen),
    ...contextLines(report, screen),
    ...section('3  What could go without asking a model', screen),
    ...reductionLines(report, screen),
    ...section('4  What the last compaction kept', screen),
    ...compactionLines(report, screen),
    ...section('Look further', screen),
    ...nextLines(report, screen),
  ]
}

function section(title: string, screen: Screen): readonly string[] {
  return ['', heading(title, screen)]
}

function welcome(report: TourReport, screen: Screen): readonly string[] {
  const size = `${counted(report.records, 'record')}, ${bytes(report.bytes)}, ${duration(report.lasted)} of work`
  return [
    ...headingWith('Everlong', 'conversations of any length in a window of fixed size', screen),
    '',
    ...paragraph(
      `A coding agent's whole conversation goes to the model with every request. When the window is nearly full, the agent compacts: a summary takes the place of what came before. This is a made-up session, "${oneLine(report.title)}" (${size}).`,
      screen,
    ),
  ]
}

function contextLines({ context, window }: TourReport, screen: Screen): readonly string[] {
  const composition = { ...context, tokens: context.size.tokens }
  const columns = screen.width - 4
  const threshold = context.marks.autoCompactThreshold.value
  const mark = `  ${ruler([{ letter: '▲', value: threshold }], { whole: window, columns })}`
  const words = `auto-compact at ${count(threshold)}: ${context.percentLeft} % left`
  const leftInWords = screen.paint(stateStyles[context.state], words)
  const isWide = columnsOf(mark) + 1 + columnsOf(words) <= screen.width
  return [
    ...paragraph(
      `${count(context.size.tokens)} tokens, in a window of ${count(window)} (a small one, for a short story).`,
      screen,
    ),
    `  ${compositionBar(composition, { whole: window, columns }, screen)}`,
    ...(isWide ? [`${mark} ${leftInWords}`] : [mark, `  ${leftInWords}`]),
    ...legend(composition, screen),
  ]
}

const leastSaved = 20_000

function reductionLines({ context, olderResults }: TourReport, screen: Screen): readonly string[] {
  const { duplicateReads, size } = context
  const share = percent(olderResults.tokens, size.tokens)
  const reads = duplicateReads.files.reduce((sum, file) => sum + file.reads, 0)
  const names = duplicateReads.files.map(({ path }) => oneLine(path.split('/').slice(-2).join('/'))).join(', ')
  const pairs: readonly (readonly [string, string])[] = [
    [
      count(olderResults.tokens),
      `tokens (${share}): ${olderResults.results} of ${olderResults.all} results of tools that can be run again`,
    ],
    [count(duplicateReads.tokens), `of these: ${counted(reads, 'earlier read')} of ${names}, read again later`],
  ]
  const numbers = Math.max(...pairs.map(([number]) => number.length))
  return [
    ...pairs.map(
      ([number, text]) =>
        `  ${screen.paint('yellow', number.padStart(numbers))}  ${cut(text, screen.width - numbers - 4)}`,
    ),
    ...paragraph(
      `The newest ${olderResults.newestKept} results always stay. A reduction waits until it would save ${count(leastSaved)} tokens, because it breaks the provider's cache: here it would ${olderResults.tokens < leastSaved ? 'leave all as it is' : 'clear the oldest'}.`,
      screen,
    ),
  ]
}

const mostSummaryLines = 6

function compactionLines({ compaction }: TourReport, screen: Screen): readonly string[] {
  const { summary, kept, shownAgain } = compaction
  const lines = summary
    .split('\n')
    .map(oneLine)
    .filter((line) => line !== '')
  const room = screen.width - 6
  return [
    `  a summary of ${count(summary.length)} characters:`,
    ...lines.slice(0, mostSummaryLines).map((line) => `  ${screen.paint('magenta', '│')} ${cut(line, room)}`),
    ...(lines.length > mostSummaryLines
      ? [
          `  ${screen.paint('magenta', '│')} ${screen.paint('dim', `… ${counted(lines.length - mostSummaryLines, 'more line')}`)}`,
        ]
      : []),
    `  ${counted(kept.length, 'message')} word for word:`,
    ...kept.map(
      ({ kind, text }) =>
        `  ${screen.paint('cyan', '│')} ${screen.paint('dim', padEnd(kind, 13))} ${cut(text === '' ? '(not stored)' : text, room - 14)}`,
    ),
    ...(shownAgain.length > 0 ? [`  and ${shownAgain.map(oneLine).join(', ')}, shown again by the client`] : []),
  ]
}

function nextLines({ program, path, window }: TourReport, screen: Screen): readonly string[] {
  const file = visible(path)
  const commands: readonly (readonly [string, string])[] = [
    [`${program} inspect ${file}`, 'one screen about a session'],
    [`${program} tree ${file}`, 'every message'],
    [`${program} context ${file} --window ${window}`, 'all of section 2'],
    [`${program} explain ${file}`, 'thresholds, and the next compaction'],
    [`${program} stats ~/.claude/projects`, 'your own sessions, all of them'],
    [`${program} --help`, 'the rest'],
  ]
  return commandList(commands, screen)
}
