// A hook event as Claude Code passes it on standard input, checked.
import { sessionName } from './project.ts'

export type HookEvent = {
  readonly name: string
  readonly session: string
  readonly transcript: string
  readonly input: { readonly [key: string]: unknown }
}

/** Undefined if it is not an event of a session, or if it is one of a sub-agent, whose context is not the session's. */
export function readEvent(input: unknown): HookEvent | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const { hook_event_name: name, session_id, transcript_path: transcript, agent_id } = input as HookEvent['input']
  const session = sessionName(session_id)
  if (typeof name !== 'string' || typeof transcript !== 'string' || session === undefined) return undefined
  if (agent_id !== undefined && name !== 'PostToolUse') return undefined
  return { name, session, transcript, input: input as HookEvent['input'] }
}
