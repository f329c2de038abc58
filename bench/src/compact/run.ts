// `npm run bench -- compact`: how long a whole compaction without a model takes, and how much memory. In processes of
// their own, since the first one in a process is the one that people wait for.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { foldEntries } from 'everlong/internal'
import { defineBenchmark, figure, type Page, type Target, table } from '../benchmark.ts'
import { upTo } from '../engine/sessions.ts'
import { median } from '../median.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import type { One } from './one.ts'

/** The promised size and ten times as much, to check that memory is bounded. */
const sizes = [200_000, 2_000_000] as const
const processes = 7
const rounds = 7
const wanted = 200

/** Medians: milliseconds of processor time, megabytes. */
type Row = {
  readonly tokens: One['tokens']
  readonly messages: number
  readonly first: number
  readonly later: number
  readonly peak: number
  readonly kept: number
}

type Figures = { readonly node: string; readonly targets: readonly Target[]; readonly rows: readonly Row[] }

export const benchmark = defineBenchmark({ name: 'compact', run, page, targets: ({ targets }) => targets })

function run(): Promise<Figures> {
  return inTemporaryFolder((folder) => {
    const rows = sizes.map((size) => measured(join(folder, `${size}.json`), size))
    return { node: process.versions.node, targets: rows.slice(0, 1).flatMap(targetsOf), rows }
  })
}

function measured(path: string, size: number): Row {
  const messages = foldEntries(upTo(size)).messages.map(({ role, content }) => ({ role, content }))
  writeFileSync(path, JSON.stringify(messages))
  const script = join(import.meta.dirname, 'one.ts')
  const ran = Array.from({ length: processes }, () => {
    return JSON.parse(execFileSync(process.execPath, [script, path, String(rounds)], { encoding: 'utf8' })) as One
  })
  const middle = (of: (one: One) => number) => median(ran.map(of))
  return {
    tokens: ran[0]?.tokens ?? { before: Number.NaN, after: Number.NaN },
    messages: messages.length,
    first: middle(({ first }) => first),
    later: median(ran.flatMap(({ later }) => later)),
    peak: middle(({ peak }) => peak),
    kept: middle(({ kept }) => kept),
  }
}

function targetsOf({ first, later }: Row): readonly Target[] {
  const target = (what: string, milliseconds: number): Target => ({
    what,
    wanted: `below ${wanted} ms`,
    measured: `${milliseconds.toFixed(0)} ms`,
    met: milliseconds < wanted,
  })
  return [
    target('a compaction of 200,000 tokens without a model', later),
    target('the same, the first in its process', first),
  ]
}

function page({ node, rows }: Figures): Page {
  return {
    title: 'A compaction without a model',
    parts: [
      `Written by \`npm run bench -- compact\` with Node ${node}: \`compact(messages)\` of a generated session, in ${processes} processes of
their own. Wanted: 200,000 tokens in less than ${wanted} ms. Milliseconds are processor time of the one thread that works, so
that other work on the machine counts less; a shared machine still makes them larger, because caches are shared too.
Medians. *Peak* is how much larger the process was at its largest than before, garbage included; *kept* is what it still
holds after all of them.`,
      table(
        ['tokens', 'messages', 'first in its process, ms', 'later, ms', 'peak, MB', 'kept, MB'],
        rows.map(({ tokens: { before, after }, messages, first, later, peak, kept }) => {
          return [`${figure(before)} → ${figure(after)}`, messages, first, later, peak, kept]
        }),
      ),
    ],
  }
}
