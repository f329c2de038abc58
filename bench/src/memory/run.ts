// `npm run bench -- memory`: how long a compaction from the notes of session memory takes, from wish to transcript, and
// that it asks nobody. Beside it the same conversation summarized without a model and without notes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ModelClient, offline } from 'everlong'
import { generateSession, serialize } from 'everlong/internal/testing'
import { createEngine } from 'everlong/node'
import { defineBenchmark, figure, type Page, type Target, table } from '../benchmark.ts'
import { median } from '../median.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'

const rounds = 11
const headings = ['Session title', 'Current state', 'Task specification', 'Files and functions', 'Workflow']
const wanted = 50

type Measured = {
  readonly mechanism: string
  readonly messages: number
  readonly tokens: { readonly before: number; readonly after: number }
  readonly restored: number
  readonly requests: number
  /** Milliseconds. */
  readonly first: number
  readonly later: number
}

type Figures = { readonly node: string; readonly wanted: number; readonly rows: readonly Measured[] }

export const benchmark = defineBenchmark({ name: 'memory', run, page, targets })

function run(): Promise<Figures> {
  return inTemporaryFolder(async (folder) => {
    const rows = [await measure(folder, { withNotes: true }), await measure(folder, { withNotes: false })]
    return { node: process.versions.node, wanted, rows }
  })
}

async function measure(folder: string, { withNotes }: { readonly withNotes: boolean }): Promise<Measured> {
  const times: number[] = []
  let last: Omit<Measured, 'first' | 'later'> | undefined
  for (let round = 0; round < rounds; round++) {
    const path = join(folder, `${withNotes ? 'notes' : 'none'}-${round}.jsonl`)
    write(path, withNotes)
    const { model, asked } = counted()
    const engine = createEngine({
      model,
      settings: { contextWindow: 200_000, sessionMemory: withNotes, reductions: { microCompact: false } },
      environment: {},
      files: { read: async () => ({ type: 'text', text: source }) },
    })
    const session = await engine.open(path, { model: 'claude-opus-4-5' })
    await session.prepare()
    const messages = session.messages().length
    const began = process.cpuUsage()
    const done = await session.compact()
    const { user, system } = process.cpuUsage(began)
    times.push((user + system) / 1000)
    if (done.type === 'failed') throw new Error(done.why)
    const restored = session.messages().filter(({ content }) => JSON.stringify(content).includes('File ')).length
    const tokens = { before: done.before, after: done.after }
    last = { mechanism: done.mechanism, messages, tokens, restored, requests: asked() }
    await session.close()
  }
  if (!last) throw new Error('Nothing was measured.')
  const [first = 0, ...later] = times
  return { ...last, first, later: median(later) }
}

/** Says how often it was asked; whoever compacts from notes must not. */
function counted(): { readonly model: ModelClient; readonly asked: () => number } {
  const client = offline()
  let requests = 0
  const model: ModelClient = {
    ...client,
    send: (request, options) => {
      requests++
      return client.send(request, options)
    },
  }
  return { model, asked: () => requests }
}

/** A file of about four thousand tokens. */
const source = Array.from({ length: 400 }, (_, at) => `export const value${at} = compute(${at}, "name ${at}")`).join(
  '\n',
)

function write(path: string, withNotes: boolean): void {
  const records = [...generateSession({ seed: 5, targetBytes: 1_300_000, boundaries: 0 })]
  writeFileSync(path, records.map(serialize).join(''))
  if (!withNotes) return
  const memory = join(path.replace(/\.jsonl$/, ''), 'session-memory')
  mkdirSync(memory, { recursive: true })
  const line = 'The queue is drained before the lock is given back; see src/queue.ts, drain().'
  const body = Array.from({ length: 60 }, (_, at) => `- ${at}: ${line}`).join('\n')
  writeFileSync(join(memory, 'summary.md'), headings.map((heading) => `# ${heading}\n_what_\n${body}\n`).join('\n'))
}

function targets({ wanted, rows }: Figures): readonly Target[] {
  const fromNotes = rows.filter(({ mechanism }) => mechanism === 'session-memory')
  return fromNotes.map(({ later }) => ({
    what: 'a compaction from notes',
    wanted: `below ${wanted} ms`,
    measured: `${later.toFixed(1)} ms`,
    met: later < wanted,
  }))
}

function page({ node, wanted, rows }: Figures): Page {
  return {
    title: 'Compaction from session memory',
    parts: [
      `Written by \`npm run bench -- memory\` with Node ${node}: a generated session on disk, from \`compact()\` to the
records in the transcript, restored files included. Wanted: below ${wanted} ms, and no request. Milliseconds are processor
time, so that other work on the machine counts less; the ratio of the two rows says more.`,
      table(
        ['mechanism', 'messages', 'tokens', 'requests', 'first time in the process, ms', 'later, ms'],
        rows.map(({ mechanism, messages, tokens: { before, after }, requests, first, later }) => {
          return [mechanism, messages, `${figure(before)} → ${figure(after)}`, requests, first, later]
        }),
      ),
    ],
  }
}
