// `npm run bench -- soak`: long sessions of the loop in a small window, against the simulator. Whether every request was
// valid and inside the window, whether every rule is still there, and whether memory grows.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SoakReport, soak, soakWindow } from '@everlong/agent/testing'
import { writeResults } from '../results.ts'
import { type Alone, runAlone } from './alone.ts'
import { heapInUse } from './heap.ts'

const lengths = [500, 5_000] as const

type Run = SoakReport & {
  readonly seconds: number
  readonly fileMegabytes: number
  /** In use after a collection, at a tenth of the run and at its end: what grows, grows between them. */
  readonly heapEarly: number
  readonly heapLate: number
}

export async function run(): Promise<void> {
  const alone = await inFolder((folder) => runAlone(join(folder, 'session.jsonl'), Math.max(...lengths)))
  const runs: Run[] = []
  for (const turns of lengths) runs.push(await longRun(turns))
  const json = { node: process.versions.node, window: soakWindow, alone, runs }
  writeResults('soak', { markdown: asMarkdown(runs, alone), json })
}

async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-soak-'))
  try {
    return await act(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function longRun(turns: number): Promise<Run> {
  return inFolder(async (folder) => {
    const path = join(folder, 'session.jsonl')
    const heap: number[] = []
    const began = performance.now()
    // The simulator keeps a log of its own: it is kept short, since it is not what is measured.
    const report = await soak({ turns, path, simulator: { logEntries: 20 }, onTask: () => heap.push(heapInUse()) })
    const seconds = (performance.now() - began) / 1000
    const at = (share: number) => heap[Math.floor((heap.length - 1) * share)] ?? Number.NaN
    return { ...report, seconds, fileMegabytes: statSync(path).size / 1e6, heapEarly: at(0.1), heapLate: at(1) }
  })
}

function asMarkdown(runs: readonly Run[], { turns, heap }: Alone): string {
  const row = (it: Run) =>
    `| ${it.turns} | ${it.compactions} | ${it.invalid.length} | ${it.largest} | ${it.lost.length} of ${it.rules} | ` +
    `${it.fileMegabytes.toFixed(1)} | ${it.heapEarly.toFixed(0)} | ${it.heapLate.toFixed(0)} | ${it.seconds.toFixed(0)} |`
  return `# Long sessions in a small window

Written by \`npm run bench -- soak\`: the query loop works on a made-up repository against the simulator, in a window of
${soakWindow} tokens, with a transcript on disk. The first tasks bring a rule each; at the end every one of them must be in the
context word for word.

| turns | compactions | requests that broke a rule or the window | largest context | rules lost | transcript, MB | heap after a tenth, MB | heap at the end, MB | seconds |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${runs.map(row).join('\n')}

The heap here is that of the whole process, simulator included, after a collection.

## The engine alone

${turns} turns with a model that only calls tools, and compactions without a model: what the process holds, in megabytes.

| turn | heap, MB |
| --- | --- |
${heap.map((it) => `| ${it.turn} | ${it.megabytes.toFixed(1)} |`).join('\n')}
`
}
