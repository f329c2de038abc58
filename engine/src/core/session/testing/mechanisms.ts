// Mechanisms for tests of the ladder: one that summarizes with a given text, and some that fail in one way each.

import type { MechanismContext, RunningMechanism } from '../../mechanisms/mechanism.ts'
import { noTokens } from '../../message/usage.ts'
import type { CompactionFailure } from '../../ports/events.ts'

/** Replaces everything with a text. `during` runs before it commits. */
export function plainMechanism(
  text: string | ((context: MechanismContext) => string),
  {
    name = 'plain',
    during,
  }: { readonly name?: string; readonly during?: (context: MechanismContext) => Promise<void> } = {},
): RunningMechanism {
  return {
    name,
    run: async (context) => {
      await during?.(context)
      if (context.signal?.aborted) return { type: 'failed', reason: 'aborted', why: 'It was stopped.' }
      const { place, ports } = context
      const timestamp = new Date(ports.now()).toISOString()
      const boundary = ports.newId()
      const frame = { isSidechain: false, sessionId: place.sessionId, timestamp }
      const content = typeof text === 'string' ? text : text(context)
      const committed = await context.commit([
        {
          ...frame,
          parentUuid: null,
          logicalParentUuid: place.tip,
          type: 'system',
          subtype: 'compact_boundary',
          content: 'Conversation compacted',
          compactMetadata: { trigger: context.trigger, preTokens: context.size.tokens },
          uuid: boundary,
        },
        {
          ...frame,
          parentUuid: boundary,
          type: 'user',
          isCompactSummary: true,
          isVisibleInTranscriptOnly: true,
          message: { role: 'user', content },
          uuid: ports.newId(),
        },
      ])
      if (committed.type === 'failed') {
        return { type: 'failed', reason: committed.reason ?? 'write_failed', why: committed.message }
      }
      return { type: 'compacted', mechanism: name, usage: noTokens, restored: 0 }
    },
  }
}

export function failingMechanism(name: string, reason: CompactionFailure = 'api_error'): RunningMechanism {
  return { name, run: async () => ({ type: 'failed', reason, why: `${name} could not` }) }
}

export function decliningMechanism(name: string): RunningMechanism {
  return { name, run: async () => ({ type: 'declined', why: `${name} would not` }) }
}
