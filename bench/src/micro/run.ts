// `npm run bench -- micro`: the reductions that need no model, on every real transcript at hand.
import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { writeResults } from '../results.ts'
import { transcriptFolder } from '../root.ts'
import { measureFile } from './measure.ts'
import { type FileFigures, report, totalsOf } from './report.ts'

/** Paths below the folder, in one order. */
export function transcriptsIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.jsonl')).toSorted()
}

export async function run(): Promise<void> {
  const folder = transcriptFolder()
  if (folder === undefined) {
    console.log('No transcripts at hand: put some beside the checkout, or say where with EVERLONG_DATA.')
    return
  }
  const files: FileFigures[] = []
  for (const name of transcriptsIn(folder)) {
    const measured = await measureFile(join(folder, name))
    if (measured) files.push({ file: labelOf(name, files), ...measured })
  }
  writeResults('micro', { markdown: report(files), json: { totals: totalsOf(files), files } })
}

/** Files of a folder are numbered: their own names are ids of sessions. */
function labelOf(name: string, before: readonly FileFigures[]): string {
  const [first = name, ...deeper] = name.split(sep)
  if (deeper.length === 0) return first.replace(/\.jsonl$/, '')
  return `${first} (${before.filter(({ file }) => file.startsWith(`${first} (`)).length + 1})`
}
