// What each hook event prints. The agent waits for these, so whatever takes long is left to background.ts, and the engine is
// loaded only where a transcript must be read.
import { statSync } from 'node:fs'
import { appendPlanned } from './at-end.ts'
import { type HookEvent, readEvent } from './event.ts'
import { type Memory, memoryIn } from './notes.ts'

const instructions = `Write down word for word what the user asked to be done or not done from now on, and the user's latest request. Name what is finished, what is in progress, what failed and how it was fixed, and the exact next step. Mark nothing as approved or tested that the conversation does not show.`

/** The text for standard output; undefined for nothing. Throws if the transcript cannot be read. */
export async function onHook(input: unknown, dataFolder: string): Promise<string | undefined> {
  const event = readEvent(input)
  if (!event) return undefined
  const memory = memoryIn(dataFolder)
  switch (event.name) {
    case 'PreCompact':
      memory.given.remove(event.session)
      return instructions
    case 'SessionStart':
      return startOfContext(event, memory)
    case 'PostCompact':
      return rememberSummary(event, memory)
    case 'UserPromptSubmit':
    case 'PostToolBatch':
      return waitingNote(event, memory)
    case 'UserPromptExpansion':
      return answerAtOnce(event, memory)
    case 'SessionEnd':
      appendPlanned(event, memory)
      return undefined
    default:
      return undefined
  }
}

/** Shows a command's answer to the person and nobody else: it costs no request and leaves nothing in the context. */
async function answerAtOnce({ session, transcript, input }: HookEvent, memory: Memory): Promise<string | undefined> {
  const { answerAbout, commandNames } = await import('./engine.ts')
  const name = commandNames.find((known) => input.command_name === `everlong:${known}`)
  if (name === undefined) return undefined
  const { text, planned } = await answerAbout(name, transcript, process.env)
  if (planned) memory.atEnd.put(session, JSON.stringify(planned))
  return JSON.stringify({ decision: 'block', reason: text })
}

/** The rules come at once; what else the summary lacks can be found only when the summary is known. */
async function startOfContext({ name, session, transcript }: HookEvent, memory: Memory): Promise<string | undefined> {
  const { readRules } = await import('./engine.ts')
  const text = readRules(transcript, session, memory)
  if (text === '') return undefined
  memory.given.put(session, text)
  return contextOutput(name, text)
}

/** The comparison itself runs in the background. If that is killed, the next prompt makes up for it. */
function rememberSummary({ session, transcript, input }: HookEvent, { note, pending }: Memory): undefined {
  const summary = typeof input.compact_summary === 'string' ? input.compact_summary : ''
  note.remove(session)
  pending.put(session, JSON.stringify({ summary, bytes: statSync(transcript).size }))
}

async function waitingNote({ name, session, transcript }: HookEvent, memory: Memory): Promise<string | undefined> {
  const { note, pending, given } = memory
  const waiting = pending.get(session)
  if (waiting === undefined) return undefined
  try {
    const text = note.get(session) ?? (await compareNow(transcript, waiting, given.get(session)))
    return text === '' ? undefined : contextOutput(name, text)
  } finally {
    // Also where it failed: the next prompt would only fail again.
    for (const kept of [note, pending, given]) kept.remove(session)
  }
}

async function compareNow(transcript: string, waiting: string, given = ''): Promise<string> {
  const { compare } = await import('./engine.ts')
  return compare(transcript, { ...JSON.parse(waiting), given })
}

function contextOutput(event: string, text: string): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })
}
