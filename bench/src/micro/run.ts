// `npm run bench -- micro`: the reductions that need no model, on every real transcript that is there.
import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { transcriptFolder } from '../root.ts'
import { type Measured, measureFile } from './measure.ts'

type FileFigures = Measured & { readonly file: string }

type Totals = {
  readonly way: string
  readonly files: number
  readonly acted: number
  readonly taken: number
  readonly promised: number
  readonly measured: number
}

type Figures = { readonly totals: readonly Totals[]; readonly files: readonly FileFigures[] }

export const benchmark = defineBenchmark({ name: 'micro', run, page })

/** Paths below the folder, in one order. */
export function transcriptsIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.jsonl')).toSorted()
}

async function run(): Promise<Figures | undefined> {
  const folder = transcriptFolder()
  if (folder === undefined) {
    console.error('No transcripts found: put some next to the checkout, or set EVERLONG_DATA.')
    return undefined
  }
  const files: FileFigures[] = []
  for (const name of transcriptsIn(folder)) {
    const measured = await measureFile(join(folder, name))
    if (measured) files.push({ file: labelOf(name, files), ...measured })
  }
  return { totals: totalsOf(files), files }
}

function totalsOf(files: readonly FileFigures[]): readonly Totals[] {
  const names = [...new Set(files.flatMap(({ outcomes }) => outcomes.map(({ way }) => way)))]
  return names.map((way) => {
    const all = files.flatMap(({ outcomes }) => outcomes.filter((outcome) => outcome.way === way))
    const acted = all.filter(({ type }) => type !== 'declined')
    const sum = (key: 'promised' | 'measured') => acted.reduce((total, outcome) => total + outcome[key], 0)
    const taken = all.filter(({ status }) => status === 200).length
    return { way, files: all.length, acted: acted.length, taken, promised: sum('promised'), measured: sum('measured') }
  })
}

/** Files of a folder are numbered: their own names are ids of sessions. */
function labelOf(name: string, before: readonly FileFigures[]): string {
  const [first = name, ...deeper] = name.split(sep)
  if (deeper.length === 0) return first.replace(/\.jsonl$/, '')
  return `${first} (${before.filter(({ file }) => file.startsWith(`${first} (`)).length + 1})`
}

function page({ totals, files }: Figures): Page {
  const ways = files[0]?.outcomes.map(({ way }) => way) ?? []
  return {
    title: 'Reductions without a model, on real transcripts',
    parts: [
      'Each mechanism runs on the view of each transcript. The result is sent to the simulator, which checks it by the rules of the API and counts it with a public vocabulary. `taken`: the API accepted the request (or the mechanism declined and the request stayed as it was). Promised is our own estimate, which counts as the session’s model would; measured is the simulator’s count of what is gone, by a vocabulary that needs fewer tokens (o200k): the ratio says how far apart these two are, not how good the estimate is. `npm run bench -- micro` makes this page where there are transcripts; it holds numbers only.',
      table(
        ['mechanism', 'transcripts', 'acted on', 'taken', 'tokens promised', 'tokens measured', 'promised / measured'],
        totals.map(({ way, files: count, acted, taken, promised, measured }) => {
          const ratio = measured > 0 ? promised / measured : '–'
          return [way, count, acted, taken, promised, measured, ratio]
        }),
      ),
      'Tokens gone, measured, by transcript (– where the mechanism declined):',
      table(
        ['transcript', 'messages', 'tokens', ...ways],
        files.map(({ file, messages, tokens, outcomes }) => {
          const cells = outcomes.map(({ type, measured }) => (type === 'declined' ? '–' : measured))
          return [file, messages, tokens, ...cells]
        }),
      ),
    ],
  }
}
