// `npm run bench -- recall`: how fast an archive of 100,000 messages is built and searched, beside a plain scan of the
// file in the same run, so that the figures mean something on any machine.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { SearchQuery } from 'everlong/internal/node'
import { type Archive, openArchive } from 'everlong/node'
import { writeResults } from '../results.ts'
import { type Corpus, writeCorpus } from './corpus.ts'
import { type Figures, type QueryFigures, report } from './report.ts'

const wantedMessages = 100_000
const rounds = 3

export function run(): void {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-bench-'))
  try {
    const path = join(folder, 'session.jsonl')
    const corpus = writeCorpus(path, wantedMessages)
    const figures = measure(path, join(folder, 'cache'), corpus)
    writeResults('recall', { markdown: report(figures), json: figures })
  } finally {
    rmSync(folder, { recursive: true, force: true })
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
