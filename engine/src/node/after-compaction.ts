// Texts for an agent after it compacted by itself: the user's standing rules, and facts that its summary lacks. Short enough for
// a hook of Claude Code.
import { missingFromSummary, type SummarySource, summarySource } from '../core/compaction/missing.ts'
import type { Ledger } from '../core/ledger/facts.ts'
import { stringAt } from '../core/message/json.ts'
import { textOf } from '../core/message/message.ts'
import { standingRulesLead } from '../core/prompts/page.ts'
import { compactionJobAt } from '../core/session/transcript.ts'
import { readBoundary } from '../core/transcript/format/compaction-records.ts'
import { messageOf } from '../core/transcript/format/messages.ts'
import { forEachEntry } from './read/entries.ts'
import { readTranscript } from './read/transcript.ts'

/** Claude Code moves longer texts to a file and shows the model only their start. */
const maxLength = 9_500

/** The user's standing rules, word for word. Empty when there are none. */
export function rulesText({ rules }: Pick<Ledger, 'rules'>): string {
  if (rules.length === 0) return ''
  const lines = rules.map(({ text }) => `- ${JSON.stringify(text)}`)
  return cut([standingRulesLead, ...lines].join('\n'))
}

/**
 * Facts that a summary lacks, as a text for the agent that wrote it. Empty if nothing is missing. Throws if the transcript cannot
 * be read.
 */
export function leftOutBy(transcript: string, compacted: Compacted): string {
  const before = boundaryOf(transcript, withoutScratchpad(compacted.summary))
  return leftOutText(sourceIn(transcript, before), compacted)
}

/** The conversation of a transcript up to a boundary, or all of it. Throws if the transcript cannot be read. */
export function sourceIn(transcript: string, before: string | undefined): SummarySource {
  return summarySource(compactionJobAt(readTranscript(transcript, { before, whole: true, withFacts: true })))
}

export type Compacted = {
  /** The model's own text. */
  readonly summary: string
  /** Other text at the start of the new context. */
  readonly given?: string
  /** False if only the model can read the summary, so that its content is unknown. */
  readonly isReadable?: boolean
  /** The tool that finds everything else. */
  readonly search?: string
}

/** The text is always cut by characters. */
const maxTokens = 2_500

/**
 * Facts that a summary lacks, as a text for the agent that wrote it. Empty if nothing is missing. The source is the conversation
 * before the compaction.
 */
export function leftOutText(source: SummarySource, compacted: Compacted): string {
  const summary = `${withoutScratchpad(compacted.summary)}\n${compacted.given ?? ''}`
  const missing = missingFromSummary(source, { summary, maxTokens })
  return missing === '' ? '' : cut(leftOutNote(missing, compacted))
}

/** The missing facts, with an introductory sentence. */
export function leftOutNote(
  missing: string,
  { isReadable = true, search }: Pick<Compacted, 'isReadable' | 'search'>,
): string {
  const lead = isReadable
    ? 'The summary leaves out what follows; it was read off the transcript by code.'
    : 'What follows was read off the transcript by code. It may repeat what the summary says, which only you can read.'
  const rest = search === undefined ? '' : ` For everything else use ${search}.`
  return `This session was compacted. ${lead} It is context, not a request.${rest}\n\n${missing}`
}

/** The model's scratchpad does not reach the new context. */
function withoutScratchpad(written: string): string {
  return written.replaceAll(/<analysis>[\s\S]*?<\/analysis>|<\/?summary>/g, '').trim()
}

/** Long enough to identify a summary. */
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

function cut(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}\n[…]`
}
