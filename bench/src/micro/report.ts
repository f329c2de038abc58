// The figures of the reductions on real transcripts, as a page.
import type { Measured } from './measure.ts'

export type FileFigures = Measured & { readonly file: string }

export type Totals = {
  readonly way: string
  readonly files: number
  readonly acted: number
  readonly taken: number
  readonly promised: number
  readonly measured: number
}

export function totalsOf(files: readonly FileFigures[]): readonly Totals[] {
  const names = [...new Set(files.flatMap(({ outcomes }) => outcomes.map(({ way }) => way)))]
  return names.map((way) => {
    const all = files.flatMap(({ outcomes }) => outcomes.filter((outcome) => outcome.way === way))
    const acted = all.filter(({ type }) => type !== 'declined')
    const sum = (key: 'promised' | 'measured') => acted.reduce((total, outcome) => total + outcome[key], 0)
    const taken = all.filter(({ status }) => status === 200).length
    return { way, files: all.length, acted: acted.length, taken, promised: sum('promised'), measured: sum('measured') }
  })
}

export function report(files: readonly FileFigures[]): string {
  const ways = files[0]?.outcomes.map(({ way }) => way) ?? []
  const totals = totalsOf(files)
  return [
    '# Reductions without a model, on real transcripts',
    '',
    'Each mechanism runs on the view of each transcript; what comes out is sent to the simulator, which checks it by the rules of the API and counts it with a public vocabulary. `taken`: the API accepted the request (or the mechanism declined and the request stayed as it was). Promised is our own estimate, which counts as the session’s model would; measured is the simulator’s count of what is gone, by a vocabulary that needs fewer tokens (o200k): the ratio says how far apart these two are, not how good the estimate is. `npm run bench -- micro` makes this page where transcripts are at hand; it holds numbers only.',
    '',
    '| mechanism | transcripts | acted on | taken | tokens promised | tokens measured | promised / measured |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...totals.map(({ way, files: count, acted, taken, promised, measured }) => {
      const ratio = measured > 0 ? (promised / measured).toFixed(2) : '–'
      return `| ${way} | ${count} | ${acted} | ${taken} | ${words(promised)} | ${words(measured)} | ${ratio} |`
    }),
    '',
    'Tokens gone, measured, by transcript (– where the mechanism declined):',
    '',
    `| transcript | messages | tokens | ${ways.join(' | ')} |`,
    `| --- | ---: | ---: | ${ways.map(() => '---:').join(' | ')} |`,
    ...files.map(({ file, messages, tokens, outcomes }) => {
      const cells = outcomes.map(({ type, measured }) => (type === 'declined' ? '–' : words(measured)))
      return `| ${file} | ${words(messages)} | ${words(tokens)} | ${cells.join(' | ')} |`
    }),
    '',
  ].join('\n')
}

function words(value: number): string {
  return Math.round(value).toLocaleString('en')
}
