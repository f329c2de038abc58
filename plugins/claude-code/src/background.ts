// What hooks do while the agent works: reading a large transcript before a compaction, and comparing the summary with it
// afterwards. Nothing is printed. What is killed halfway is done again when it is needed.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readEvent } from './event.ts'
import { compare } from './lost.ts'
import { memoryIn } from './notes.ts'
import { readRules } from './rules.ts'

export function inBackground(input: unknown, dataFolder: string): void {
  const event = readEvent(input)
  if (!event) return
  const { session, transcript } = event
  const memory = memoryIn(dataFolder)
  if (event.name === 'PreCompact') {
    readRules(transcript, session, memory)
    removeOld(join(dataFolder, 'marks'))
  }
  if (event.name === 'PostCompact') {
    const summary = typeof event.input.compact_summary === 'string' ? event.input.compact_summary : ''
    const given = memory.given.get(session) ?? ''
    const text = compare(transcript, { summary, bytes: statSync(transcript).size, given })
    // Unless the agent got it meanwhile, or another compaction followed.
    if (memory.pending.get(session)?.includes(JSON.stringify(summary))) memory.note.put(session, text)
  }
}

/** Claude Code removes transcripts after this time, too. */
const oldAfterMs = 30 * 24 * 60 * 60 * 1000

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (Date.now() - statSync(path).mtimeMs > oldAfterMs) rmSync(path, { force: true })
  }
}
