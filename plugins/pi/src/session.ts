// A pi session as Everlong sees it, and what pi's settings say about it.

import { blocksOf, isObject, type JsonObject, numberAt, objectAt, stringAt, textOf } from 'everlong/internal'
import { type Transcript, transcriptOfRecords } from 'everlong/internal/node'
import type { CompactionSettings, Context, Model, SessionEntry } from './pi-api.ts'

/** The current branch, or these entries of it. */
export function openBranch(
  { sessionManager }: Pick<Context, 'sessionManager'>,
  entries?: readonly SessionEntry[],
): Transcript {
  return transcriptOfRecords(recordsOf({ sessionManager }, entries), sessionManager.getSessionFile() ?? '')
}

/** As the session file has them. */
export function recordsOf(
  { sessionManager }: Pick<Context, 'sessionManager'>,
  entries: readonly SessionEntry[] = sessionManager.getBranch(),
): readonly JsonObject[] {
  const header = sessionManager.getHeader() ?? { type: 'session', id: sessionManager.getSessionId(), cwd: '' }
  return [header, ...entries]
}

const defaults: CompactionSettings = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 }

/** What pi goes by for this model: its own entry of `modelOverrides` comes first. */
export function compactionSettings(settings: JsonObject, model: Model | undefined): CompactionSettings {
  const all = objectAt(settings, 'compaction')
  const own = objectAt(objectAt(all, 'modelOverrides'), `${model?.provider}/${model?.id}`)
  const tokens = (key: 'reserveTokens' | 'keepRecentTokens') =>
    numberAt(own, key) ?? numberAt(all, key) ?? defaults[key]
  return {
    enabled: all?.enabled !== false,
    reserveTokens: tokens('reserveTokens'),
    keepRecentTokens: tokens('keepRecentTokens'),
  }
}

/** Where pi compacts by itself; the whole window where it does not. */
export function thresholdOf(window: number, { enabled, reserveTokens }: CompactionSettings): number {
  return enabled ? Math.max(1, window - reserveTokens) : window
}

export function isMessage({ type, message }: SessionEntry, role?: string): boolean {
  return type === 'message' && isObject(message) && (role === undefined || stringAt(message, 'role') === role)
}

/** An edit that clears a tool result, as ours do. pi makes edits of its own when it tries again. */
export function isClearing({ type, replacement }: SessionEntry): boolean {
  return (
    type === 'context_edit' && textOf(blocksOf(objectAt({ replacement }, 'replacement')?.content)).startsWith(cleared)
  )
}

const cleared = '[Old tool result content cleared]'
