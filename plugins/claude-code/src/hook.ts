// The output of each hook event. The agent waits for these, so slow work is left to background.ts, and the engine is loaded only
// if a transcript must be read.
import { statSync } from 'node:fs'
import { compactInstructions } from '../../shared/instructions.ts'
import { appendPlanned } from './at-end.ts'
import { type HookEvent, readEvent } from './event.ts'
import { type Memory, memoryIn } from './notes.ts'

/** The text for standard output. Undefined for none. Throws if the transcript cannot be read. */
export async function onHook(input: unknown, dataFolder: string): Promise<string | undefined> {
  const event = readEvent(input)
  if (!event) return undefined
  const memory = memoryIn(dataFolder)
  switch (event.name) {
    case 'SessionStart':
      return startOfContext(event, memory)
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

/** After "operation blocked by hook", which Claude Code puts before an answer that is not for the model. */
const answerTitle = 'Everlong answered. Nothing was sent to the model.'

/** Off unless the person set a length: as an option of the plug-in, or in the environment. */
function maxResultLength({
  CLAUDE_PLUGIN_OPTION_SHORTEN_RESULTS,
  EVERLONG_SHORTEN_RESULTS,
}: NodeJS.ProcessEnv): number {
  const asked = Number(EVERLONG_SHORTEN_RESULTS || CLAUDE_PLUGIN_OPTION_SHORTEN_RESULTS || 0)
  return asked > 0 ? Math.max(asked, minResultLength) : Number.POSITIVE_INFINITY
}

/** Shortening less than this is not worth it. */
const minResultLength = 1_000

async function shortResult(event: HookEvent): Promise<string | undefined> {
  const maxLength = maxResultLength(process.env)
  const { tool_name: tool, tool_response: response } = event.input
  const isOurs = typeof tool === 'string' && tool.includes('everlong')
  if (isOurs || (JSON.stringify(response)?.length ?? 0) <= maxLength) return undefined
  const { shortened } = await import('./engine.ts')
  const updatedToolOutput = shortened(event, maxLength)
  if (updatedToolOutput === undefined) return undefined
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event.name, updatedToolOutput } })
}

/**
 * Shows a command's answer only to the person: it costs no request and leaves nothing in the context. If Claude Code runs the
 * hooks module, that answers instead.
 */
async function answerAtOnce(event: HookEvent, memory: Memory): Promise<string | undefined> {
  const { session, transcript, input } = event
  const { answerAbout, commandNames, keptAnswer } = await import('./engine.ts')
  const name = commandNames.find((known) => input.command_name === `everlong:${known}`)
  if (name === undefined) return undefined
  const shown = keptAnswer(name, await answerAbout(name, transcript, process.env), { session, memory })
  return JSON.stringify({
    // `continue: false` is shown as "Operation stopped by hook", but puts the answer into the context.
    ...{ decision: 'block', reason: `${answerTitle}\n\n${shown}` },
    hookSpecificOutput: { hookEventName: event.name, suppressOriginalPrompt: true },
  })
}

/**
 * The rules are sent at once. Other missing facts are known only after the summary is in the transcript, so they come with the
 * next prompt or tool results.
 */
async function startOfContext({ name, session, transcript }: HookEvent, memory: Memory): Promise<string> {
  const { size: bytes } = statSync(transcript)
  // Must come first, because the background waits for it.
  memory.pending.put(session, { bytes, given: '' })
  const { readRules } = await import('./compare.ts')
  const given = readRules(transcript, session, memory)
  memory.pending.put(session, { bytes, given })
  return contextOutput(name, [given, compactInstructions].filter((part) => part !== '').join('\n\n'))
}

async function waitingNote({ name, session, transcript }: HookEvent, memory: Memory): Promise<string | undefined> {
  const { pending, prepared } = memory
  const waiting = pending.get(session)
  if (waiting === undefined) return undefined
  const { bytes, given } = waiting
  try {
    const read = prepared.get(session)
    const { compare, countGivenBack, givenBackLine } = await import('./compare.ts')
    const text = compare(transcript, { bytes, given, source: read?.bytes === bytes ? read.source : undefined })
    const systemMessage = givenBackLine(countGivenBack(`${given}\n\n${text}`), '/everlong:lost')
    if (systemMessage !== undefined) memory.given.put(session, [given, text].filter((part) => part !== '').join('\n\n'))
    return text === '' && systemMessage === undefined ? undefined : contextOutput(name, text, systemMessage)
  } finally {
    // Also after a failure, because the next prompt would only fail again.
    for (const kept of [pending, prepared]) kept.remove(session)
  }
}

/** `systemMessage` is only for the person. */
function contextOutput(event: string, text: string, systemMessage?: string): string {
  return JSON.stringify({
    ...(systemMessage === undefined ? {} : { systemMessage }),
    ...(text === '' ? {} : { hookSpecificOutput: { hookEventName: event, additionalContext: text } }),
  })
}
