// The part of the report that sets the estimate beside everybody else's.
import type { ModelGrowth } from './growth.ts'

type RivalRow = {
  readonly category: string
  readonly samples: number
  readonly errors: Readonly<Record<string, number>>
}

const percent = (share: number) => (100 * share).toFixed(1)

export function rivalSection(rivals: readonly RivalRow[]): readonly string[] {
  const names = Object.keys(rivals[0]?.errors ?? {})
  const samples = rivals.reduce((sum, row) => sum + row.samples, 0)
  const overall = names.map(
    (name) => rivals.reduce((sum, row) => sum + row.samples * (row.errors[name] ?? 0), 0) / samples,
  )
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  return [
    '## Beside everybody else who guesses',
    '',
    'Mean absolute error in percent of the exact o200k count, on the held-out and the fresh samples together. The rules of',
    'agents are written by us from their descriptions; tokenx is called as it is. Exact tokenizers are not here: for this',
    'vocabulary they are right by definition, and for a model with another one they are as far off as the vocabularies are',
    'apart (see what real sessions grew by, below).',
    '',
    row(['category', 'samples', ...names]),
    row(['---', '---', ...names.map(() => '---')]),
    row(['**all samples**', samples, ...overall.map((error) => `**${percent(error)}**`)]),
    ...rivals.map(({ category, samples: count, errors }) =>
      row([category, count, ...names.map((name) => percent(errors[name] ?? Number.NaN))]),
    ),
    '',
  ]
}

export function growthSection(growth: readonly ModelGrowth[]): readonly string[] {
  const names = growth[0]?.counters.map(({ name }) => name) ?? []
  return [
    '## What real sessions grew by, by model',
    '',
    'The input that the API reported from one answer to the next, beside what everybody says of the text that was added,',
    'over turns that added 300 tokens or more: the whole sum before anything is learned, in percent of what was reported;',
    'and in brackets the mean error of a turn after one factor for the model. Ours knows the families of models.',
    '',
    ...(growth.length === 0
      ? ['skipped: no transcripts here']
      : [
          `| model | turns | tokens reported | ${names.join(' | ')} |`,
          `| --- | --- | --- |${names.map(() => ' --- |').join('')}`,
          ...growth.map(
            ({ model, turns, reported, counters }) =>
              `| ${model} | ${turns} | ${reported} | ${counters.map(({ sum, turn }) => `${sum > 0 ? '+' : ''}${percent(sum)} (${percent(turn)})`).join(' | ')} |`,
          ),
        ]),
    '',
  ]
}
