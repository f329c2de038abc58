// Reads the conversation while the agent works, so that the next prompt does not have to wait for it. Nothing is printed.
// If it is killed or comes too late, the next prompt reads the conversation itself.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readEvent } from './event.ts'
import { sourceBefore } from './lost.ts'
import { type Memory, memoryIn, type Pending } from './notes.ts'

export async function inBackground(input: unknown, dataFolder: string): Promise<void> {
  const event = readEvent(input)
  if (event?.name !== 'SessionStart') return
  const { session, transcript } = event
  const memory = memoryIn(dataFolder)
  const pending = await pendingFor(session, memory)
  for (const kept of ['marks', 'given']) removeOld(join(dataFolder, kept))
  if (pending === undefined) return
  const source = sourceBefore(transcript, pending.bytes)
  // Unless the agent got it in the meantime, or another compaction followed.
  if (memory.pending.get(session)?.bytes === pending.bytes) {
    memory.prepared.put(session, { bytes: pending.bytes, source })
  }
}

/** The hook that writes it starts at the same time. */
async function pendingFor(session: string, { pending }: Memory): Promise<Pending | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const found = pending.get(session)
    if (found !== undefined) return found
    // Not from node:timers/promises, because a hook that is built into the same file would load that too while the agent waits.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return undefined
}

/** Claude Code removes transcripts after this time, too. */
const oldAfterMs = 30 * 24 * 60 * 60 * 1000

function removeOld(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name)
    if (Date.now() - statSync(path).mtimeMs > oldAfterMs) rmSync(path, { force: true })
  }
}
