// The context window that a client wrote down. Codex does so with each count of tokens and at the start of each turn.
import { objectAt } from '../../message/json.ts'
import type { Entry } from './entry.ts'

export function recordedWindow(entries: readonly Entry[]): number | undefined {
  for (const { record } of entries.toReversed()) {
    const payload = record.type === 'event_msg' ? objectAt(record, 'payload') : undefined
    const window = payload?.model_context_window ?? objectAt(payload, 'info')?.model_context_window
    if (typeof window === 'number' && window > 0) return window
  }
  return undefined
}
