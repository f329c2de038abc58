// A process that compacts a session on disk and reports every change that it makes to the file system, or makes them so slowly
// that a kill falls into the middle of one. Only for tests.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { type FileChange, watchChanges } from './file-changes.ts'

export type CrashOrder = {
  readonly path: string
  readonly model: string
  /** Keeps this message and everything after it. Default: summarizes everything. */
  readonly upTo?: string
  readonly isSlow: boolean
}

/** Changes of the disk since the compaction began, in order. */
export type CrashReport = { readonly outcome: string; readonly changes: readonly FileChange[] }

async function main({ path, model, upTo, isSlow }: CrashOrder): Promise<void> {
  const changes: FileChange[] = []
  const watch = watchChanges(fs, { isSlow, tell: (change) => changes.push(change) })
  syncBuiltinESMExports()
  // Imported late, so that they use the watched functions of node:fs.
  const { offline } = await import('everlong')
  const { createEngine, eventLog } = await import('everlong/node')
  const talk = `console.log('Look at ${'the queue '.repeat(1500)}')`
  const command = `${JSON.stringify(process.execPath)} -e ${JSON.stringify(talk)}`
  const engine = createEngine({
    model: offline(),
    environment: {},
    settings: { contextWindow: 400_000, maxOutputTokens: 1_000, sessionMemory: true },
    hookSettings: { settings: { SessionStart: [{ matcher: 'compact', hooks: [{ type: 'command', command }] }] } },
    files: { read: async (wanted) => ({ type: 'text', text: `export const name = '${wanted}'\n`.repeat(40) }) },
    onEvent: eventLog(`${path}.events`),
  })
  const session = await engine.open(path, { model })
  process.stdout.write('ready\n')
  watch.begin()
  const done = await session.compact(upTo === undefined ? {} : { upTo })
  watch.end()
  const report: CrashReport = { outcome: done.type === 'compacted' ? done.mechanism : done.why, changes }
  process.stdout.write(`${JSON.stringify(report)}\n`)
  await session.close()
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '') as CrashOrder)
