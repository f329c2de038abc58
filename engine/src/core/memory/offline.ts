// Notes without a model: what the user said and what the agent reported, put into the ten sections. Deterministic, and
// every line is a quotation of the conversation or a fact of it.
import { linesWithin } from '../compaction/page/plain-words.ts'
import { stateLines } from '../compaction/page/state.ts'
import type { Ledger } from '../ledger/facts.ts'
import { oneLine } from '../ledger/text.ts'
import { condensed } from '../text/condense.ts'
import type { TokenLimit } from '../text/cut.ts'
import type { Update } from './notes.ts'

export function offlineUpdates(ledger: Ledger, limit: TokenLimit): readonly Update[] {
  return Object.entries(sectionsOf(ledger)).map(([heading, lines]) => ({
    heading,
    body: linesWithin(lines, limit).join('\n'),
  }))
}

const longestReport = 1_200

function sectionsOf(ledger: Ledger): Readonly<Record<string, readonly string[]>> {
  const { exchanges, rules, errors, commits, files, todos } = ledger
  const newest = <T extends { readonly last: number }>(facts: readonly T[]) => facts.toSorted((a, b) => b.last - a.last)
  const latest = exchanges.at(-1)
  const open = todos.filter(({ status }) => status !== 'done')
  return {
    'Session title': exchanges.slice(0, 1).map(({ text }) => oneLine(text, 200).split(' ').slice(0, 10).join(' ')),
    'Current state': [
      ...(latest ? [`- Latest request: "${oneLine(latest.text, 1_200)}"`] : []),
      ...(latest?.report === undefined
        ? []
        : [`- The agent last reported: ${condensed(latest.report, longestReport)}`]),
      ...open.map(({ text, status }) => `- Open: ${oneLine(text, 240)} (${status})`),
      ...stateLines({ ledger: { ...ledger, todos: [] }, shown: '' }),
    ],
    'Task specification': [
      ...newest(rules).map(({ text }) => `- Rule: "${text}"`),
      ...exchanges.toReversed().map(({ text }) => `- The user: "${oneLine(text, 600)}"`),
    ],
    'Files and functions': newest(files).map(({ path }) => `- changed ${oneLine(path, 400)}`),
    'Errors & corrections': newest(errors).map(({ what, line, cause, isFixed }) => {
      const failed = `\`${oneLine(what, 160).replaceAll('`', "'")}\` failed: ${oneLine(line, 200)}`
      return `- ${failed}${cause === undefined ? '' : `. ${oneLine(cause, 300)}`}${isFixed ? '. Fixed since' : ''}`
    }),
    'Key results': exchanges
      .toReversed()
      .flatMap(({ text, report }) =>
        report === undefined ? [] : [`- "${oneLine(text, 120)}": ${condensed(report, longestReport)}`],
      ),
    Worklog: newest(commits).map(({ hash, title }) => `- commit ${hash} "${oneLine(title, 160)}"`),
  }
}
