// Messages as opencode 1.18 gives them, for tests.
import type { JsonObject } from 'everlong/internal'
import type { SessionMessage } from './opencode-api.ts'

export const session = 'ses_1'
const time = { created: Date.UTC(2026, 10, 16, 5) }

export function user(id: string, text: string): SessionMessage {
  return { info: { id, sessionID: session, role: 'user', time }, parts: [{ type: 'text', text }] }
}

export function assistant(id: string, parts: readonly JsonObject[], more: JsonObject = {}): SessionMessage {
  const tokens = { input: 10, output: 5, reasoning: 2, cache: { read: 100, write: 20 } }
  const facts = { modelID: 'claude-sonnet-4-5', path: { cwd: '/home/me/app', root: '/home/me/app' }, tokens, time }
  return { info: { id, sessionID: session, role: 'assistant', ...facts, ...more }, parts }
}

export function compaction(id: string, more: JsonObject = {}): SessionMessage {
  return { ...user(id, ''), parts: [{ type: 'compaction', auto: true, ...more }] }
}

export function summary(id: string, text: string): SessionMessage {
  return assistant(id, [{ type: 'text', text }], { summary: true, mode: 'compaction' })
}
