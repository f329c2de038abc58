// Appends records to a transcript when its session ends. Until then Claude Code extends its conversation in memory; on resuming,
// it continues from the last record.
import { appendFileSync, closeSync, openSync, readSync, statSync } from 'node:fs'
import type { HookEvent } from './event.ts'
import type { Memory } from './notes.ts'

export type Planned = {
  /** The size of the transcript that the records were made for. */
  readonly bytes: number
  /** Records as JSON, one per line. */
  readonly text: string
}

/** Appends the planned records, unless the conversation continued in the meantime and they are outdated. */
export function appendPlanned({ session, transcript }: HookEvent, { atEnd }: Memory): void {
  const planned = atEnd.get(session)
  if (planned === undefined) return
  atEnd.remove(session)
  const { bytes, text } = planned
  const since = tailOf(transcript, bytes)
  if (since === undefined || since.split('\n').some(isSpoken)) return
  appendFileSync(transcript, since === '' || since.endsWith('\n') ? text : `\n${text}`)
}

/** Undefined if the file is shorter. */
function tailOf(path: string, from: number): string | undefined {
  const length = statSync(path).size - from
  if (length < 0) return undefined
  const buffer = Buffer.alloc(length)
  const file = openSync(path, 'r')
  try {
    let done = 0
    for (let read = -1; read !== 0; done += read) read = readSync(file, buffer, done, length - done, from + done)
    return buffer.toString('utf8', 0, done)
  } finally {
    closeSync(file)
  }
}

/** A message of the user or the agent, except Claude Code's own records when it answers our commands or resumes. */
function isSpoken(line: string): boolean {
  const isMessage = line.includes('"message":{') && /"type":"(user|assistant)"/.test(line)
  return isMessage && !notSpoken.test(line)
}

const notSpoken = /"model":"<synthetic>"|"content":"<(?:local-command-caveat>|command-name>\/everlong:)/
