// The rules that a user set in a session, read off its transcript. Only what is new since the last time is read.
import { readLedger, rulesText } from 'everlong/internal/node'
import type { Memory } from './notes.ts'

/** Empty if there are none. */
export function readRules(transcript: string, session: string, { mark }: Memory): string {
  const { ledger, mark: next } = readLedger(transcript, parsed(mark.get(session)))
  mark.put(session, JSON.stringify(next))
  return rulesText(ledger)
}

/** A mark that cannot be read counts as none. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
