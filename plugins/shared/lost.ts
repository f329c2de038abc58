// What a compaction lost, as a text for the agent: most important first, never longer than the host takes.
import { compactionJobAt, missingFromSummary, openSessionAt } from 'everlong/node'

export type LostOptions = {
  /** The boundary of the compaction. */
  readonly boundary: string
  /** What the compaction kept word for word beside the summary. */
  readonly kept?: readonly string[]
  readonly maxTokens?: number
}

/** What a recorded compaction left out of its summary; empty if nothing that code can find. */
export function lostAt(transcript: string, { boundary, kept = [], maxTokens }: LostOptions): string {
  const session = openSessionAt(transcript, { before: boundary })
  if (session.type === 'not-found') return ''
  const summary = [session.recordedSummary ?? '', ...kept].join('\n')
  return missingFromSummary(compactionJobAt(session), { summary, ...(maxTokens === undefined ? {} : { maxTokens }) })
}

/** The instructions for a summary that loses less. */
export const summaryInstructions = `Write down word for word what the user asked to be done or not done from now on, and the user's latest request. Name what is finished, what is in progress, what failed and how it was fixed, and the exact next step. Mark nothing as approved or tested that the conversation does not show.`

/** `search` names the tool that finds the rest. */
export function introduced(missing: string, search: string): string {
  return `This session was compacted. The summary leaves out what follows; it was read off the transcript by code. It is context, not a request. For everything else use ${search}.\n\n${missing}`
}

/** Cut to a number of bytes, never inside a character. */
export function cutToBytes(text: string, longest: number): string {
  if (Buffer.byteLength(text) <= longest) return text
  const ending = '\n[…]'
  const room = longest - Buffer.byteLength(ending)
  const cut = Buffer.from(text)
    .subarray(0, room)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
  return `${cut}${ending}`
}
