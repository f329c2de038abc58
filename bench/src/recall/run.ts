// `npm run bench -- recall`: how fast an archive of 100,000 messages is built and searched, compared with a plain scan of the
// file in the same run, so that the figures mean something on any machine.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { SearchQuery } from 'everlong/internal/node'
import { type Archive, openArchive } from 'everlong/node'
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { type Corpus, writeCorpus } from './corpus.ts'

const wantedMessages = 100_000
const rounds = 3

type QueryFigures = {
  readonly name: string
  /** Milliseconds. */
  readonly p50: number
  readonly p95: number
  /** The mean, in processor time. */
  readonly cpuMs: number
  readonly scanMs: number
  readonly timesFaster: number
}

export type Figures = {
  readonly node: string
  readonly messages: number
  readonly transcriptMB: number
  readonly databaseMB: number
  readonly buildSeconds: number
  readonly buildCpuSeconds: number
  readonly messagesPerSecond: number
  readonly reopenMs: number
  readonly queries: readonly QueryFigures[]
  readonly readById: { readonly p50: number; readonly p95: number }
}

export const benchmark = defineBenchmark({ name: 'recall', run: () => inTemporaryFolder(run), page })

function run(folder: string): Figures {
  const path = join(folder, 'session.jsonl')
  return measure(path, join(folder, 'cache'), writeCorpus(path, wantedMessages))
}

function page(figures: Figures): Page {
  const { messages, transcriptMB, databaseMB, buildSeconds, buildCpuSeconds, messagesPerSecond, reopenMs, readById } =
    figures
  return {
    title: 'Recall in a long session',
    parts: [
      `A generated session of ${messages.toLocaleString('en')} messages (${transcriptMB} MB), Node ${figures.node}. Ten queries of each kind, three times, warm; ten cards with snippets for each. The scan is \`Buffer.indexOf\` over the whole file in memory, in the same run: it ranks nothing and knows neither case nor words. CPU is processor time, because the machine may have had other work. \`npm run bench -- recall\` makes this page.`,
      `Building the index took ${buildSeconds} s, ${buildCpuSeconds} s of it processor time (${messagesPerSecond.toLocaleString('en')} messages/s). The database has ${databaseMB} MB; opening it again takes ${reopenMs} ms. Reading a tool result by its id: ${readById.p50} ms (p95 ${readById.p95}).`,
      table(
        ['query', 'p50 ms', 'p95 ms', 'CPU mean ms', 'scan ms', 'times faster'],
        figures.queries.map(({ name, p50, p95, cpuMs, scanMs, timesFaster }) => {
          return [name, p50, p95, cpuMs, scanMs, timesFaster]
        }),
      ),
    ],
  }
}

function measure(path: string, folder: string, corpus: Corpus): Figures {
  const built = timed(() => openArchive(path, { folder }))
  built.result.close()
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  const reopened = timed(() => openArchive(path, { folder }))
  const archive = reopened.result
  const ids = archive.search({ kinds: ['tool-result'], limit: 100 }).matches.map(({ id }) => id)
  const content = readFileSync(path)
  const asked = [
    ...Object.entries(corpus.queries).map(([name, words]) => ({
      name,
      queries: words.map((word): SearchQuery => ({ words: word })),
    })),
    { name: 'common, one tool', queries: corpus.queries.common.map((words): SearchQuery => ({ words, tool: 'Bash' })) },
    {
      name: 'common, newest first',
      queries: corpus.queries.common.map((words): SearchQuery => ({ words, order: 'newest' })),
    },
  ]
  const queries = asked.map(({ name, queries: all }) => queryFigures(archive, content, { name, queries: all }))
  const reads = spread(ids.map((id) => timed(() => archive.read(id)).ms))
  archive.close()
  return {
    node: process.version,
    messages: corpus.messages,
    transcriptMB: mega(corpus.bytes),
    databaseMB: mega(bytes),
    buildSeconds: round(built.ms / 1000),
    buildCpuSeconds: round(built.cpuMs / 1000),
    messagesPerSecond: Math.round(corpus.messages / (built.ms / 1000)),
    reopenMs: round(reopened.ms),
    queries,
    readById: reads,
  }
}

type Asked = { readonly name: string; readonly queries: readonly SearchQuery[] }

function queryFigures(archive: Archive, content: Buffer, { name, queries }: Asked): QueryFigures {
  for (const query of queries) archive.search(query)
  const all = timed(() =>
    Array.from({ length: rounds }, () => queries.map((query) => timed(() => archive.search(query)).ms)).flat(),
  )
  const scan = spread(queries.map((query) => timed(() => linesWith(content, query.words ?? '')).ms))
  const found = spread(all.result)
  const cpuMs = round(all.cpuMs / all.result.length)
  return { name, ...found, cpuMs, scanMs: scan.p50, timesFaster: round(scan.p50 / found.p50) }
}

/** The plainest search there is: every line that holds the bytes. It ranks nothing and knows neither case nor words. */
function linesWith(content: Buffer, words: string): number {
  const [first = '', ...others] = words.startsWith('"') ? [words.slice(1, -1)] : words.replace('*', '').split(' ')
  let lines = 0
  for (let at = content.indexOf(first); at >= 0; ) {
    const start = content.lastIndexOf(10, at) + 1
    const end = content.indexOf(10, at)
    const line = content.subarray(start, end < 0 ? content.length : end)
    if (others.every((word) => line.includes(word))) lines++
    at = end < 0 ? -1 : content.indexOf(first, end)
  }
  return lines
}

type Timed<T> = { readonly result: T; readonly ms: number; readonly cpuMs: number }

/** On the clock, and in time that the processor really gave us: others may be at work on it. */
function timed<T>(run: () => T): Timed<T> {
  const before = process.cpuUsage()
  const began = performance.now()
  const result = run()
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  return { result, ms, cpuMs: (user + system) / 1000 }
}

function spread(times: readonly number[]): { readonly p50: number; readonly p95: number } {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return { p50: at(0.5), p95: at(0.95) }
}

function mega(bytes: number): number {
  return Math.round(bytes / 100_000) / 10
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
