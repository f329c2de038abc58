// A side entry of the transcript with everything that sizes and thresholds depend on besides the messages, so that readers of
// the file see the numbers that the session saw. Other clients ignore it.
import { defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import { checkSettings } from '../settings/check.ts'
import { type SizeSettings, sizeSettingsIn } from '../settings/resolve.ts'
import type { Calibration } from '../tokens/estimate/counting.ts'
import type { WindowFacts } from '../tokens/windows.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { Stamp } from './conversation.ts'

export type ContextNote = {
  readonly model: string
  /** Tokens of the system prompt and the tools. */
  readonly overhead: number
  readonly calibration: Calibration
  readonly settings: SizeSettings
  readonly provider: NonNullable<WindowFacts['provider']>
  readonly learnedWindow?: number | undefined
}

const noteType = 'everlong-context'

export function contextNoteRecord(note: ContextNote, { timestamp, sessionId }: Stamp): JsonObject {
  return { type: noteType, sessionId, timestamp, everlong: { context: note } }
}

/** The newest one. */
export function readContextNote(entries: readonly Entry[]): ContextNote | undefined {
  const record = entries.findLast((entry) => entry.record.type === noteType)?.record
  const note = objectAt(objectAt(record, 'everlong'), 'context')
  const model = stringAt(note, 'model')
  if (!note || model === undefined) return undefined
  const factor = numberAt(note.calibration, 'factor')
  return {
    model,
    overhead: numberAt(note, 'overhead') ?? 0,
    calibration: { factor: factor !== undefined && factor >= 0.5 && factor <= 2 ? factor : 1 },
    settings: settingsIn(note.settings),
    provider: defined({ window: numberAt(note.provider, 'window'), maxOutput: numberAt(note.provider, 'maxOutput') }),
    ...defined({ learnedWindow: numberAt(note, 'learnedWindow') }),
  }
}

/**
 * Anybody may have written the file, so only settings that sizes depend on are read, and checked. Old notes have three
 * settings in place of `compaction`.
 */
function settingsIn(noted: unknown): SizeSettings {
  if (!isObject(noted)) return {}
  const { autoCompact, disableCompact, disableAutoCompact, ...settings } = noted
  const isManual = autoCompact === false || disableAutoCompact === true
  const compaction: SizeSettings['compaction'] =
    disableCompact === true ? 'off' : isManual ? 'manual' : autoCompact === 'ask' ? 'ask' : undefined
  return sizeSettingsIn(checkSettings({ ...defined({ compaction }), ...settings }).settings)
}
