// What each hook event prints. The agent waits for these, so whatever takes long is left to background.ts, and the engine is
// loaded only where a transcript must be read.
import { statSync } from 'node:fs'
import { summaryInstructions } from '../../shared/instructions.ts'
import { appendPlanned } from './at-end.ts'
import { type HookEvent, readEvent } from './event.ts'
import { type Memory, memoryIn } from './notes.ts'

/** The text for standard output; undefined for nothing. Throws if the transcript cannot be read. */
export async function onHook(input: unknown, dataFolder: string): Promise<string | undefined> {
  const event = readEvent(input)
  if (!event) return undefined
  const memory = memoryIn(dataFolder)
  switch (event.name) {
    case 'PreCompact':
      memory.given.remove(event.session)
      return `${instructionsTitle} ${summaryInstructions}`
    case 'SessionStart':
      return startOfContext(event, memory)
    case 'PostCompact':
      return rememberSummary(event, memory)
    case 'UserPromptSubmit':
    case 'PostToolBatch':
      return waitingNote(event, memory)
    case 'UserPromptExpansion':
      return answerAtOnce(event, memory)
    case 'PostToolUse':
      return shortResult(event)
    case 'SessionEnd':
      appendPlanned(event, memory)
      return undefined
    default:
      return undefined
  }
}

/** Claude Code shows the person whatever this hook prints, and has no option to hide it. So it says what it is. */
const instructionsTitle = 'Instructions of Everlong for the summary:'

/** Claude Code puts "operation blocked by hook" before an answer that is not for the model. This is no error. */
const answerTitle = 'This is the answer of Everlong, not an error. Nothing was sent to the model.'

/** Off unless the person set a length: as an option of the plug-in, or in the environment. */
function longestResult({ CLAUDE_PLUGIN_OPTION_SHORTEN_RESULTS, EVERLONG_SHORTEN_RESULTS }: NodeJS.ProcessEnv): number {
  const asked = Number(EVERLONG_SHORTEN_RESULTS || CLAUDE_PLUGIN_OPTION_SHORTEN_RESULTS || 0)
  return asked > 0 ? Math.max(asked, leastResult) : Number.POSITIVE_INFINITY
}

/** Less than this is not worth a second look. */
const leastResult = 1_000

async function shortResult(event: HookEvent): Promise<string | undefined> {
  const longest = longestResult(process.env)
  const { tool_name: tool, tool_response: response } = event.input
  const isOurs = typeof tool === 'string' && tool.includes('everlong')
  if (isOurs || (JSON.stringify(response)?.length ?? 0) <= longest) return undefined
  const { shortened } = await import('./engine.ts')
  const updatedToolOutput = shortened(event, longest)
  if (updatedToolOutput === undefined) return undefined
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event.name, updatedToolOutput } })
}

/** Shows a command's answer to the person and nobody else: it costs no request and leaves nothing in the context. */
async function answerAtOnce({ session, transcript, input }: HookEvent, memory: Memory): Promise<string | undefined> {
  const { answerAbout, commandNames } = await import('./engine.ts')
  const name = commandNames.find((known) => input.command_name === `everlong:${known}`)
  if (name === undefined) return undefined
  const { text, planned } = await answerAbout(name, transcript, process.env)
  if (planned) memory.atEnd.put(session, JSON.stringify(planned))
  return JSON.stringify({ decision: 'block', reason: `${answerTitle}\n\n${text}` })
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
