// `everlong repair` without --out: the problems of a file, and the content of a repaired one. Writes nothing. Exit code 1 if
// there are errors; notes are normal for such files and do not count.

import { count, counted, oneLine, padStart, visible, wrap } from '@everlong/agent/render'
import type { Finding } from 'everlong/internal'
import { type FsckReport, fsck } from 'everlong/internal/node'
import { gathered, noTranscript, type Outcome, reading } from '../../outcome.ts'
import { facts, fileHeading, heading, type Screen } from '../../render/screen.ts'

export function gather(path: string): Outcome<FsckReport> {
  return reading(path, () => {
    const report = fsck(path)
    if (report.isTranscript) return gathered(report, report.errors > 0 ? 1 : 0)
    const isBlank = report.findings.length === 0
    return { type: 'gathered', report, exitCode: 1, complaint: noTranscript(path), isBlank }
  })
}

const maxNotes = 20

export function render(report: FsckReport, screen: Screen): readonly string[] {
  const errors = report.findings.filter(({ severity }) => severity === 'error')
  const notes = report.findings.filter(({ severity }) => severity === 'note')
  return [
    fileHeading(report.path, screen),
    `  ${screen.paint(errors.length === 0 ? 'green' : 'red', errors.length === 0 ? 'no errors' : counted(errors.length, 'error'))}, ${counted(notes.length, 'note')}`,
    ...section(report.isTranscript ? 'Errors (repair fixes them)' : 'Errors', errors, screen),
    ...section('Notes (normal for such files)', notes.slice(0, maxNotes), screen),
    ...(notes.length > maxNotes ? [`  … and ${count(notes.length - maxNotes)} more notes (--json has all)`] : []),
    ...(report.isTranscript ? repairedLines(report, screen) : []),
  ]
}

function repairedLines({ path, errors, repaired: { records, live } }: FsckReport, screen: Screen): readonly string[] {
  return [
    '',
    heading('After a repair', screen),
    ...facts(
      [
        ['records', count(records)],
        ['live window', `${counted(live.entries, 'entry', 'entries')}, ${counted(live.messages, 'answer')}`],
        [
          'tools',
          `${counted(live.toolUses, 'call')}, ${counted(live.toolResults, 'result')}, ${live.unpaired} unpaired`,
        ],
      ],
      screen,
    ),
    ...(errors === 0 ? [] : ['', screen.paint('dim', `  to fix it: everlong repair ${visible(path)} --out NEW`)]),
  ]
}

function section(title: string, findings: readonly Finding[], screen: Screen): readonly string[] {
  if (findings.length === 0) return []
  const numbers = findings.map(({ line }) => (line === undefined ? '' : `line ${count(line)}`))
  const width = Math.max(...numbers.map((number) => number.length))
  const lines = findings.flatMap(({ text }, index) =>
    wrap(oneLine(text), screen.width - width - 4).map(
      (part, nth) => `  ${screen.paint('dim', padStart(nth === 0 ? (numbers[index] ?? '') : '', width))}  ${part}`,
    ),
  )
  return ['', heading(title, screen), ...lines]
}
