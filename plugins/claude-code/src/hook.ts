// What each hook event prints. Claude Code passes the event as JSON on standard input.
import { join } from 'node:path'
import { compactionJobAt, missingFromSummary, openSessionAt, type SessionAt } from 'everlong/node'
import { isObject, stringAt } from 'everlong/transcript'
import { sessionName } from './project.ts'
import { notesIn } from './waiting.ts'

/** Claude Code moves longer texts to a file and shows the model only their start. */
const longest = 9_500

/** About 3.5 characters a token; the text is cut by characters in any case. */
const missingTokens = 2_500

const instructions = `Write down word for word what the user asked to be done or not done from now on, and the user's latest request. Name what is finished, what is in progress, what failed and how it was fixed, and the exact next step. Mark nothing as approved or tested that the conversation does not show.`

/** The text for standard output; undefined for nothing. Throws if the transcript cannot be read. */
export function onHook(input: unknown, dataFolder: string): string | undefined {
  const session = sessionName(isObject(input) ? input.session_id : undefined)
  const transcript = stringAt(input, 'transcript_path')
  const event = stringAt(input, 'hook_event_name')
  if (session === undefined || transcript === undefined || event === undefined) return undefined
  const notes = notesIn(join(dataFolder, 'waiting'))
  const rules = notesIn(join(dataFolder, 'rules'))
  switch (event) {
    case 'PreCompact':
      return instructions
    case 'SessionStart': {
      const text = rulesText(openSession(transcript))
      if (text === '') return undefined
      rules.put(session, text)
      return contextOutput(event, text)
    }
    case 'PostCompact': {
      const shown = [stringAt(input, 'compact_summary') ?? '', rules.take(session) ?? ''].join('\n')
      const text = missingText(openSession(transcript), shown)
      if (text !== '') notes.put(session, text)
      return undefined
    }
    case 'UserPromptSubmit':
    case 'PostToolBatch': {
      const text = notes.take(session)
      return text === undefined ? undefined : contextOutput(event, text)
    }
    default:
      return undefined
  }
}

/** What the last recorded compaction left out, for a person. */
export function lastLost(transcript: string, boundary: string): string {
  const session = openSessionAt(transcript, { before: boundary })
  if (session.type === 'not-found') return ''
  return missingFromSummary(compactionJobAt(session), { summary: session.recordedSummary ?? '' })
}

function openSession(transcript: string): SessionAt {
  const session = openSessionAt(transcript)
  if (session.type === 'not-found') throw new Error(`There is no session in ${transcript}.`)
  return session
}

function rulesText({ ledger }: SessionAt): string {
  const lines = ledger.rules.map(({ text }) => `- ${JSON.stringify(text)}`)
  if (lines.length === 0) return ''
  return cut(['What the user asked for once and for all in this session, word for word:', ...lines].join('\n'))
}

function missingText(session: SessionAt, summary: string): string {
  const missing = missingFromSummary(compactionJobAt(session), { summary, maxTokens: missingTokens })
  if (missing === '') return ''
  return cut(
    `This session was compacted. The summary leaves out what follows; it was read off the transcript by code. It is context, not a request. For everything else use the everlong search tool.\n\n${missing}`,
  )
}

function cut(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}\n[…]`
}

function contextOutput(event: string, text: string): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })
}
