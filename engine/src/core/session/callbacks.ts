// What runs around a session and its compactions: hooks of the host, and clean-ups of whatever describes the state before a
// compaction. Which skills were listed is deliberately not cleaned up: listing them again would cost thousands of tokens.
import { callNow, type Guard } from '../ports/guarded.ts'
import type { Hooks } from '../ports/hooks.ts'
import type { Conversation } from './conversation.ts'

export type CleanUp = {
  readonly name: string
  /** Whether it belongs to one conversation or to all. */
  readonly scope: 'conversation' | 'all'
  /** `tokens`: the size after the compaction. */
  readonly clear: (after: { readonly tokens: number }) => void
}

export type CleanUps = ReturnType<typeof createCleanUps>

/** For one conversation. `shared` holds those of all conversations of an engine; a sub-agent's compaction skips them. */
export function createCleanUps(
  shared: Set<CleanUp>,
  { isSubagent, guard }: { readonly isSubagent: boolean; readonly guard: Guard },
) {
  const own = new Set<CleanUp>()
  return {
    register: (owner: CleanUp): (() => void) => {
      const home = owner.scope === 'all' ? shared : own
      home.add(owner)
      return () => void home.delete(owner)
    },
    /** After a compaction, in the order of registration. */
    run: (after: { readonly tokens: number }): void => {
      const owners = [...own, ...(isSubagent ? [] : shared)]
      // One that throws must not stop the others: the compaction is already written.
      for (const owner of owners)
        callNow(
          () => owner.clear(after),
          (why) => guard.report('clean-up', `${owner.name}: ${why}`),
        )
    },
  }
}

const joining = ['SessionStart', 'PostCompact', 'SubagentStart']

/** The same hooks. What they add after a compaction, or when a session starts, is appended to the conversation. */
export function hooksInto(conversation: Conversation, hooks: Hooks): Hooks {
  return {
    run: async (call, options) => {
      const outcome = await hooks.run(call, options)
      const { event } = call
      const source = 'source' in call ? call.source : undefined
      // A compaction places, and measures, what its own SessionStart hooks add.
      if (!joining.includes(event) || source === 'compact') return outcome
      const hookName = source === undefined ? event : `${event}:${source}`
      const facts = { type: 'hook_additional_context', hookEvent: event, hookName }
      conversation.append(outcome.context.map((content) => ({ type: 'attachment', attachment: { ...facts, content } })))
      return outcome
    },
  }
}
