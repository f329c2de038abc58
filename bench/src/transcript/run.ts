// `npm run bench -- transcript`: how fast a session of 400 MB is opened, indexed and scanned, in how much memory,
// compared with the fastest plain loop over the same file, and whether adding a message costs more in a longer one.
import { spawnSync } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { median } from '../median.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { writeSession } from '../write-session.ts'
import { type AddingCost, addingCosts } from './adding.ts'
import type { Measured } from './measure.ts'

const megabytes = 400
const boundaries = 142
const rounds = 7
const methods = ['plain', 'scan', 'index', 'index-cold', 'open', 'nothing'] as const
type Method = (typeof methods)[number]

type Row = {
  readonly method: Method
  readonly milliseconds: number
  readonly megabytesPerSecond: number
  /** Speed as a multiple of the plain loop's: the median over rounds in which all took their turn. */
  readonly ratio: number
  readonly peakMegabytes: number
}

type FileReport = {
  readonly style: string
  readonly bytes: number
  readonly records: number
  readonly rows: readonly Row[]
}

export type TranscriptReport = {
  readonly node: string
  readonly files: readonly FileReport[]
  readonly adding: readonly AddingCost[]
}

export const benchmark = defineBenchmark({ name: 'transcript', run, page })

function run(): Promise<TranscriptReport> {
  return inTemporaryFolder((folder) => {
    const warmUp = join(folder, 'warm-up.jsonl')
    writeSession(warmUp, { seed: 1, targetBytes: 80e6, boundaries: 12 })
    const files = (['2.1-late', '2.1-early'] as const).map((style) => measureFile(folder, style, warmUp))
    return { node: process.versions.node, files, adding: addingCosts([10, 10_000]) }
  })
}

function measureFile(folder: string, style: '2.1-late' | '2.1-early', warmUp: string): FileReport {
  const path = join(folder, `${style}.jsonl`)
  const truth = writeSession(path, { seed: 7, style, targetBytes: megabytes * 1e6, boundaries, kept: 'before' })
  const bytes = statSync(path).size
  const measured: Record<Method, Measured[]> = {
    plain: [],
    scan: [],
    index: [],
    'index-cold': [],
    open: [],
    nothing: [],
  }
  for (let round = 0; round < rounds; round++) {
    for (const method of methods) measured[method].push(measure(method, path, warmUp))
  }
  const live = measured.open[0]?.found[0]
  if (live !== truth.live) throw new Error(`The live window has ${live} entries; its maker says ${truth.live}.`)
  const rows = methods.map((method) => rowOf(method, bytes, measured))
  rmSync(path)
  return { style, bytes, records: measured.plain[0]?.found[0] ?? 0, rows }
}

function measure(method: Method, path: string, warmUp: string): Measured {
  const script = join(import.meta.dirname, 'measure.ts')
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, method, path, warmUp], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`Measuring ${method} failed: ${stderr}`)
  return JSON.parse(stdout) as Measured
}

function rowOf(method: Method, bytes: number, measured: Readonly<Record<Method, readonly Measured[]>>): Row {
  const own = measured[method]
  const milliseconds = median(own.map((one) => one.milliseconds))
  return {
    method,
    milliseconds,
    megabytesPerSecond: bytes / 1e3 / milliseconds,
    ratio: median(own.map((one, round) => (measured.plain[round]?.milliseconds ?? Number.NaN) / one.milliseconds)),
    peakMegabytes: Math.max(...own.map((one) => one.peakMegabytes)),
  }
}

const names: Readonly<Record<Method, string>> = {
  plain: 'plain loop: 4 MB chunks, newline search, JSON.parse',
  scan: 'full scan: records, grouping, graph, salvage, epochs',
  index: 'index scan: ids, parents, types, usage, boundaries',
  'index-cold': 'the same as the first thing a process does, without a warm-up',
  open: 'open the live window from the tail',
  nothing: 'a Node process that does nothing',
}

function page({ node, files, adding }: TranscriptReport): Page {
  return {
    title: 'Transcripts',
    parts: [
      `Written by \`npm run bench -- transcript\` with Node ${node}. Each figure is the median of ${rounds} rounds in which every
method took its turn, each in a process of its own after a warm-up on a file of 80 MB (unless it says without). Read the
ratios: milliseconds are of this machine. The session generator writes the files, and the live window that was opened is the
one that the generator knows.`,
      ...files.flatMap(({ style, bytes, records, rows }) => [
        `## A session of ${Math.round(bytes / 1e6)} MB, ${records} records, ${boundaries} compactions, as client ${style} writes it`,
        table(['what', 'speed, plain loop = 1', 'milliseconds', 'peak memory, MB'], rows.map(cellsOf)),
      ]),
      '## Adding a message',
      'Recording one more message in a conversation, microseconds each.',
      table(
        ['messages before', 'microseconds'],
        adding.map(({ messages, microseconds }) => [messages, microseconds]),
      ),
    ],
  }
}

function cellsOf({ method, ratio, milliseconds, peakMegabytes }: Row) {
  const speed = method === 'nothing' ? [undefined, undefined] : [`${ratio.toFixed(2)} ×`, Math.round(milliseconds)]
  return [names[method], ...speed, Math.round(peakMegabytes)]
}
