// Settings with their defaults. A thrifty session has other defaults for some of them.
import { checkSettings } from './check.ts'
import type { Fields } from './rules.ts'
import { type EngineSettings, type Settings, settingsTable } from './table.ts'

/** `given` has been checked. */
export function completeSettings(given: EngineSettings = {}): Settings {
  const { economy, sessionMemory, cacheMarks = settingsTable.cacheMarks.default } = given
  // Settings for notes turn them on, also in a thrifty session.
  const memory = typeof sessionMemory === 'object' ? { isOn: true, ...sessionMemory } : { isOn: sessionMemory }
  const settings = complete(
    settingsTable,
    { ...given, sessionMemory: memory },
    economy === 'thrifty' ? 'thrifty' : 'default',
  ) as Settings
  const { reductions } = settings
  const { minutes } = settingsTable.reductions.fields.byIdle.fields
  // Only a cache that lives for five minutes is cold after them.
  const idle = given.reductions?.byIdle?.minutes ?? (cacheMarks === '5m' ? reductions.byIdle.minutes : minutes.default)
  return { ...settings, reductions: { ...reductions, byIdle: { ...reductions.byIdle, minutes: idle } } }
}

function complete(fields: Fields, given: object, economy: 'default' | 'thrifty'): object {
  const values = given as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const value = values[name]
      if ('fields' in field) return [name, complete(field.fields, value ?? {}, economy)]
      return [name, value ?? (economy === 'thrifty' ? field.thrifty : undefined) ?? field.default]
    }),
  )
}

export const defaultSettings: Settings = completeSettings()

export type CompactionSettings = Settings['summary']

export type ReductionSettings = Settings['reductions'] & {
  /** Leave the id with which the recall tool finds the original. */
  readonly recall: boolean
}

export type ReductionChoices = NonNullable<EngineSettings['reductions']> & { readonly recall?: boolean | undefined }

/** Values that cannot be read count as not given. */
export function reductionSettings({ recall = false, ...choices }: ReductionChoices = {}): ReductionSettings {
  const { settings } = checkSettings({ reductions: choices })
  const { reductions = {} } = settings
  return { ...(complete(settingsTable.reductions.fields, reductions, 'default') as Settings['reductions']), recall }
}
