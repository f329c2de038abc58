// The rules that a user set in a session, read off its transcript. Only what is new since the last time is read.
import { readLedger } from 'everlong/node'
import { cut } from './cut.ts'
import type { Memory } from './notes.ts'

/** Empty if there are none. */
export function readRules(transcript: string, session: string, { mark }: Memory): string {
  const { ledger, mark: next } = readLedger(transcript, parsed(mark.get(session)))
  mark.put(session, JSON.stringify(next))
  const lines = ledger.rules.map(({ text }) => `- ${JSON.stringify(text)}`)
  if (lines.length === 0) return ''
  return cut(['What the user asked for once and for all in this session, word for word:', ...lines].join('\n'))
}

/** A mark that cannot be read is as good as none. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
