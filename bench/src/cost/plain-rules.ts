// Ways without a library: nothing until the API refuses, dropping the oldest messages, and the server's own features.
import { byList, withoutOldest } from './by-list.ts'
import { thresholdOf } from './setup.ts'

export const nothing = byList({ name: 'nothing until it overflows', who: 'no management' })

export const serverCompaction = byList({
  name: 'compaction, defaults',
  who: 'the server',
  fields: { context_management: { edits: [{ type: 'compact_20260112' }] } },
  betas: ['context-management-2025-06-27', 'compact-2026-01-12'],
})

export const plainRules = [
  nothing,
  byList({
    name: 'truncation at the threshold',
    who: 'no library',
    keep: (messages, { used, port }) => {
      if (used < thresholdOf(port.setup)) return messages
      port.note('clearing')
      return withoutOldest(messages, 0.5)
    },
  }),
  byList({
    name: 'clear_tool_uses, defaults',
    who: 'the server',
    fields: { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
    betas: ['context-management-2025-06-27'],
  }),
  serverCompaction,
] as const
