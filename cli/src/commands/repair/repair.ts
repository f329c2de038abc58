// `everlong repair`: writes a repaired copy of a transcript. Never touches the original, never overwrites anything.

import { count, visible } from '@everlong/agent/render'
import { type RepairReport, repair } from 'everlong/internal/node'
import { failed, gathered, noPlaceFor, noTranscript, type Outcome, reading, writing } from '../../outcome.ts'
import { facts, heading, type Screen } from '../../render/screen.ts'

export type RepairedReport = RepairReport & { readonly from: string; readonly to: string }

export function gather(from: string, to: string): Outcome<RepairedReport> {
  return reading(from, () => {
    const trouble = noPlaceFor(to)
    if (trouble) return failed(trouble)
    return writing(to, () => repairFile(from, to))
  })
}

function repairFile(from: string, to: string): Outcome<RepairedReport> {
  const outcome = repair(from, to)
  if (outcome.type === 'refused') {
    if (outcome.reason === 'no-records') return failed(noTranscript(from))
    return failed(`${visible(to)} exists and is not overwritten. Give --out another name.`)
  }
  const { type: _, ...report } = outcome
  return gathered({ from, to, ...report })
}

export function render(report: RepairedReport, screen: Screen): readonly string[] {
  return [
    heading(`Wrote ${visible(report.to)}`, screen),
    ...facts(
      [
        ['records', count(report.records)],
        ['lines repaired', count(report.linesRepaired)],
        ['duplicates dropped', count(report.duplicatesDropped)],
        ['parents repaired', count(report.parentsRepaired)],
      ],
      screen,
    ),
    screen.paint('dim', `  ${visible(report.from)} was not changed.`),
  ]
}
