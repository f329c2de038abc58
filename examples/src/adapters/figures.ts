// Compares the figures on an adapter's page with measurements.
import { readFileSync } from 'node:fs'
import type { Run } from './contract.ts'

const most = 0.1

export type Figures = Pick<Run, 'turns' | 'refused' | 'promptTokens' | 'cost' | 'rules' | 'facts'>

/** Differences between the row of a table and the run. Tokens and prices may differ by a tenth. */
export function wrongFigures(page: string, row: string, run: Figures): readonly string[] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8')
  const line = text.split('\n').find((own) => own.startsWith(`| ${row} |`))
  const cells = (line ?? '').split('|').slice(2, -1)
  const numbers = cells.map((cell) => Number(/[\d,.]+/.exec(cell)?.[0].replaceAll(/[,]|\.$/g, '') ?? Number.NaN))
  const measured = [
    run.turns,
    run.refused.length,
    run.promptTokens,
    run.cost,
    run.cost / run.turns,
    run.rules,
    run.facts,
  ]
  return measured.flatMap((value, at) => {
    const told = numbers[at]
    if (told === undefined || Number.isNaN(told)) return cells[at]?.trim() === '' ? [] : [`${row}: no figure ${at}`]
    const isExact = at === 0 || at === 1 || at > 4
    const isRight = isExact ? told === value : Math.abs(told - value) <= value * most
    return isRight ? [] : [`${row}: figure ${at} says ${told}, measured was ${value}`]
  })
}
