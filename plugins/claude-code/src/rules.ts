// The rules that a user set in a session, read from its transcript. Reads only what is new since the last time.
import { readLedger, rulesText } from 'everlong/internal/node'
import type { Memory } from './notes.ts'

/** Empty if there are none. */
export function readRules(transcript: string, session: string, { mark }: Memory): string {
  const { ledger, mark: next } = readLedger(transcript, mark.get(session))
  mark.put(session, next)
  return rulesText(ledger)
}
