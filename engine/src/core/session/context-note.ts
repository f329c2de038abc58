// What sessions learn about models, and the note of it in the transcript: a side entry with everything that sizes and thresholds
// depend on besides the messages, so that readers of the file see the numbers that the session saw. Other clients ignore it.
import { defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import type { ModelClient } from '../ports/model.ts'
import { checkSettings } from '../settings/check.ts'
import { type SizeSettings, sizeSettingsIn } from '../settings/resolve.ts'
import { type Calibration, type Calibrations, isCalibration, uncalibrated } from '../tokens/estimate/counting.ts'
import { minUsable, type WindowFacts } from '../tokens/explain.ts'
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
  /** The endpoint where the window was learned, because the same model may have another window elsewhere. */
  readonly learnedAt?: string | undefined
}

/** Facts about its models that a session recorded before it was closed. */
export type Noted = {
  readonly calibrations: Calibrations
  /** The window of the model that it last used, as an overflow showed it. */
  readonly window: { readonly model: string; readonly at: string | undefined; readonly tokens: number } | undefined
}

const noteType = 'everlong-context'

export function contextNoteRecord(note: ContextNote, { timestamp, sessionId }: Stamp): JsonObject {
  return { type: noteType, sessionId, timestamp, everlong: { context: note } }
}

/** The newest one. */
export function readContextNote(entries: readonly Entry[]): ContextNote | undefined {
  const note = contextIn(newestIn(entries))
  if (!note) return undefined
  return {
    model: note.model,
    overhead: numberAt(note, 'overhead') ?? 0,
    calibration: calibrationIn(note),
    settings: settingsIn(note.settings),
    provider: defined({ window: numberAt(note.provider, 'window'), maxOutput: numberAt(note.provider, 'maxOutput') }),
    ...defined({ learnedWindow: numberAt(note, 'learnedWindow') }),
  }
}

export function notedIn(entries: readonly Entry[]): Noted {
  const note = contextIn(newestIn(entries))
  const tokens = numberAt(note, 'learnedWindow')
  const window = note && tokens ? { model: note.model, at: stringAt(note, 'learnedAt'), tokens } : undefined
  return { calibrations: notedCalibrations(entries), window }
}

/** The address of a server, without the user, password and query, which must not get into a transcript. */
export function learningPlace({ endpoint, provider }: Pick<ModelClient, 'endpoint' | 'provider'>): string {
  return (endpoint ?? provider).replace(/(?<=\/\/)[^/]*@|[?#].*/gs, '')
}

/**
 * The newest calibration of each model in the notes, for a session that continues. Omits a factor of 1, which means that nothing
 * was learned yet.
 */
function notedCalibrations(entries: readonly Entry[]): Calibrations {
  const notes = entries.filter(({ record }) => record.type === noteType).map(contextIn)
  const all = notes.flatMap((note) => (note ? [[note.model, calibrationIn(note)] as const] : []))
  return Object.fromEntries([...new Map(all)].filter(([, { factor }]) => factor !== uncalibrated.factor))
}

function newestIn(entries: readonly Entry[]): Entry | undefined {
  return entries.findLast(({ record }) => record.type === noteType)
}

function contextIn(entry: Entry | undefined): (JsonObject & { readonly model: string }) | undefined {
  const note = objectAt(objectAt(entry?.record, 'everlong'), 'context')
  const model = stringAt(note, 'model')
  return note && model !== undefined ? { ...note, model } : undefined
}

function calibrationIn(note: JsonObject): Calibration {
  const factor = numberAt(note.calibration, 'factor')
  return factor !== undefined && isCalibration(factor) ? { factor } : uncalibrated
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

/** Facts about models from answers and errors. All sessions of an engine share them. */
export type Learned = {
  calibrations: Calibrations
  /** Limits of windows from overflows, by endpoint and model. */
  readonly limits: Map<string, number>
  /** Models about which the provider was asked. */
  readonly described: Set<string>
  /** Models for which the provider was asked to count. */
  readonly counted: Set<string>
}

export function nothingLearned(): Learned {
  return { calibrations: {}, limits: new Map(), described: new Set(), counted: new Set() }
}

/** The key of a model in `Learned`. */
export function keyOf({ endpoint, provider }: ModelClient, model: string): string {
  return `${endpoint ?? provider} ${model}`
}

/** Room for a summary and a conversation. With a lower limit no settings would work. */
const minLimit = minUsable + 1_000

export function isWindow(tokens: number): boolean {
  return Number.isSafeInteger(tokens) && tokens >= minLimit
}
