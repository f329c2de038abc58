// A real process that compacts a session on disk and tells of every change it makes to the file system on the way, or
// makes them so slowly that a kill falls into the middle of one. For tests; it is no part of the library.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { type FileChange, watchChanges } from './file-changes.ts'

export type CrashOrder = {
  readonly path: string
  readonly model: string
  /** Keep this message and what follows it; all is summarized where it is left out. */
  readonly upTo?: string
  readonly isSlow: boolean
}

/** What a run has done to the disk since it began to compact, in order. */
export type CrashReport = { readonly outcome: string; readonly changes: readonly FileChange[] }

async function main({ path, model, upTo, isSlow }: CrashOrder): Promise<void> {
  const changes: FileChange[] = []
  const watch = watchChanges(fs, { isSlow, tell: (change) => changes.push(change) })
  syncBuiltinESMExports()
  // Only now, so that what they take from node:fs is what is watched.
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
