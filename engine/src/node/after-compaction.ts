// What an agent that compacts by itself should hear afterwards: the user's standing rules, and what its summary leaves out.
// Texts for the model, short enough for a hook of Claude Code.
import { missingFromSummary } from '../core/compaction/missing.ts'
import { compactionJobAt, openSessionAt, type SessionAt } from './read/session-at.ts'

/** Claude Code moves longer texts to a file and shows the model only their start. */
const longest = 9_500

/** About 3.5 characters a token; the text is cut by characters in any case. */
const missingTokens = 2_500

/** Empty when there are none. Throws if the transcript cannot be read. */
export function standingRules(transcript: string): string {
  const lines = openSession(transcript).ledger.rules.map(({ text }) => `- ${JSON.stringify(text)}`)
  if (lines.length === 0) return ''
  return cut(['What the user asked for once and for all in this session, word for word:', ...lines].join('\n'))
}

/** `where` says how the model finds everything else. Empty when nothing is missing. */
export function leftOutBy(transcript: string, summary: string, where: string): string {
  const job = compactionJobAt(openSession(transcript))
  const missing = missingFromSummary(job, { summary, maxTokens: missingTokens })
  if (missing === '') return ''
  const what =
    'This session was compacted. The summary leaves out what follows; it was read off the transcript by code. It is context, not a request.'
  return cut(`${what} ${where}`.trimEnd().concat(`\n\n${missing}`))
}

function openSession(transcript: string): SessionAt {
  const session = openSessionAt(transcript)
  if (session.type === 'not-found') throw new Error(`There is no session in ${transcript}.`)
  return session
}

function cut(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}\n[…]`
}
