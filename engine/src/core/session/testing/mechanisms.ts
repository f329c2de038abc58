// Mechanisms for tests of a session: one that summarizes with a given text, and some that fail in one way each.

import type { MechanismContext, RunningMechanism } from '../../mechanisms/mechanism.ts'
import { type FailedReason, failed, stopped } from '../../ports/outcome.ts'
import type { CompactionSettings } from '../../settings/resolve.ts'
import { summarize } from '../summarize.ts'

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
      if (context.signal?.aborted) return stopped
      const { sessionId, lastUuid = null, ports } = context
      const timestamp = new Date(ports.now()).toISOString()
      const boundary = ports.newId()
      const frame = { isSidechain: false, sessionId, timestamp }
      const content = typeof text === 'string' ? text : text(context)
      const records = [
        {
          ...frame,
          parentUuid: null,
          logicalParentUuid: lastUuid,
          type: 'system',
          subtype: 'compact_boundary',
          content: 'Conversation compacted',
          compactMetadata: { trigger: context.trigger, preTokens: context.size },
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
      ]
      return { type: 'compacted', mechanism: name, records }
    },
  }
}

/** The real mechanism, with these settings. */
export function summarizing(settings: Partial<CompactionSettings> = {}): RunningMechanism {
  return {
    name: 'compact',
    run: (context) => summarize({ ...context, settings: { ...context.settings, ...settings } }),
  }
}

/** Works only in compactions for this cause, and fails in all others. */
export function only(cause: MechanismContext['reason'], { name, run }: RunningMechanism): RunningMechanism {
  return {
    name,
    run: async (context) => (context.reason === cause ? run(context) : failed('api-error', `only for ${cause}`)),
  }
}

export function failingMechanism(name: string, reason: FailedReason = 'api-error'): RunningMechanism {
  return { name, run: async () => failed(reason, `${name} could not`) }
}

export function decliningMechanism(name: string): RunningMechanism {
  return { name, run: async () => ({ type: 'declined', reason: 'not-now', why: `${name} would not` }) }
}
