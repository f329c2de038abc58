// Hooks of a session: what they want the model to see goes into the conversation, what went wrong is told.
import type { HookCall, HookOutcome, Hooks } from '../ports/hooks.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { Conversation } from './conversation.ts'
import type { Desk } from './desk.ts'

/** A compaction arranges the context of its own SessionStart itself, and measures it. */
function joinsConversation(call: HookCall): boolean {
  if (call.event === 'SessionStart') return call.source !== 'compact'
  return call.event === 'PostCompact' || call.event === 'SubagentStart'
}

/** The same hooks; the context that they add after a compaction, or when a session begins, is written down. */
export function hooksInto(conversation: Conversation, hooks: Hooks): Hooks {
  return {
    run: async (call, options) => {
      const outcome = await hooks.run(call, options)
      if (joinsConversation(call) && outcome.context.length > 0) {
        const hookName = call.event === 'SessionStart' ? `${call.event}:${call.source}` : call.event
        const facts = { type: 'hook_additional_context', hookEvent: call.event, hookName }
        conversation.append(
          outcome.context.map((content) => ({ type: 'attachment', attachment: { ...facts, content } })),
        )
      }
      return outcome
    },
  }
}

export async function runSessionHooks(
  { ports, emit }: Desk,
  call: HookCall,
  options: { readonly signal?: AbortSignalPort | undefined },
): Promise<HookOutcome> {
  const outcome = await ports.hooks.run(call, options)
  for (const problem of outcome.problems) emit({ type: 'hook-reported', event: call.event, problem })
  return outcome
}
