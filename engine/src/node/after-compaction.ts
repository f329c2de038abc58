// What an agent that compacts by itself should hear afterwards: the user's standing rules, and what its summary leaves out.
// Texts for the model, short enough for a hook of Claude Code.
import { missingFromSummary } from '../core/compaction/missing.ts'
import { textOf } from '../core/message/block.ts'
import { stringAt } from '../core/message/json.ts'
import { readBoundary } from '../core/transcript/format/boundary.ts'
import { messageOf } from '../core/transcript/format/messages.ts'
import { forEachEntry } from './read/entries.ts'
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

export type Compacted = {
  /** As the model wrote it. */
  readonly summary: string
  /** What else the new context starts with. */
  readonly given: string
}

/** Empty when nothing is missing. */
export function leftOutBy(transcript: string, { summary: written, given }: Compacted): string {
  // The scratchpad does not reach the new context.
  const summary = written.replaceAll(/<analysis>[\s\S]*?<\/analysis>|<\/?summary>/g, '').trim()
  const job = compactionJobAt(openSession(transcript, boundaryOf(transcript, summary)))
  const missing = missingFromSummary(job, { summary: `${summary}\n${given}`, maxTokens: missingTokens })
  if (missing === '') return ''
  const what =
    'This session was compacted. The summary leaves out what follows; it was read off the transcript by code. It is context, not a request.'
  return cut(`${what}\n\n${missing}`)
}

/** Enough of a summary to know it by. */
const startLength = 200

/** The boundary of this summary, if both are in the transcript already. */
function boundaryOf(transcript: string, summary: string): string | undefined {
  const start = summary.slice(0, startLength)
  let boundary: string | undefined
  let found: string | undefined
  forEachEntry(transcript, ({ record }) => {
    if (readBoundary(record)) boundary = stringAt(record, 'uuid')
    const text = record.isCompactSummary === true ? textOf(messageOf(record)?.content ?? '') : ''
    if (start !== '' && text.includes(start)) found = boundary
  })
  return found
}

function openSession(transcript: string, before?: string): SessionAt {
  const session = openSessionAt(transcript, before === undefined ? {} : { before })
  if (session.type === 'not-found') throw new Error(`There is no session in ${transcript}.`)
  return session
}

function cut(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}\n[…]`
}
