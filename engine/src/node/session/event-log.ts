// Writes the engine's events to a JSONL file. Events carry no text of the conversation. A failure to write never disturbs the
// session.
import { appendFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Emit } from '../../core/ports/events.ts'
import { nodeDisk } from '../write/disk.ts'

export type EventLogOptions = {
  readonly now?: () => number
  readonly sessionId?: string
  /** Called once, with the first failure. */
  readonly onProblem?: (problem: string) => void
}

export function eventLog(path: string, { now = Date.now, sessionId, onProblem }: EventLogOptions = {}): Emit {
  let isBroken = false
  let isReady = false
  return (event) => {
    if (isBroken) return
    try {
      if (!isReady) nodeDisk.makeFolder(dirname(path))
      isReady = true
      const line = { time: new Date(now()).toISOString(), ...(sessionId === undefined ? {} : { sessionId }), ...event }
      appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    } catch (error) {
      isBroken = true
      onProblem?.(`Cannot write the event log ${path}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
