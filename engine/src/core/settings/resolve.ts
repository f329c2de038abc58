// Settings in effect. One rule for all: environment variables override settings, settings override defaults.
import { isObject, type JsonObject } from '../message/json.ts'
import { checkSettings, warningOf } from './check.ts'
import { type Fields, type Mark, percent, type Rule, readNumber, readPercent, type Variable } from './rules.ts'
import { type EngineSettings, type Settings, settingsTable } from './table.ts'

export type Environment = { readonly [name: string]: string | undefined }

export type Sourced<T> = { readonly value: T; readonly source: string }

export type ReadEnvironment = {
  /** Includes the values of variables. */
  readonly settings: EngineSettings
  /** The variable that set a setting, by its path: `summary.model`. */
  readonly sources: { readonly [name: string]: string }
  readonly maxWindow: Sourced<number> | undefined
  readonly warnings: readonly string[]
}

type SettingVariable = { readonly path: readonly string[]; readonly rule: Rule<unknown>; readonly variable: Variable }

const settingVariables = variablesIn(settingsTable)

export function variablesIn(fields: Fields, above: readonly string[] = []): readonly SettingVariable[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...above, name]
    if ('fields' in field) return variablesIn(field.fields, path)
    return (field.environment ?? []).map((variable) => ({ path, rule: field, variable }))
  })
}

/** For each setting, the first variable with a valid value counts. Empty variables are ignored. */
export function readEnvironment(
  settings: EngineSettings,
  environment: Environment,
  variables = settingVariables,
): ReadEnvironment {
  let values: JsonObject = settings
  const sources: Record<string, string> = {}
  const warnings: string[] = []
  let maxWindow: Sourced<number> | undefined
  for (const { path, rule, variable } of variables) {
    const source = variable.name
    const name = path.join('.')
    const text = variableText(environment, source)
    if (text === '' || sources[name] !== undefined) continue
    const read = readVariable(variable, text, rule)
    if ('wants' in read) warnings.push(`${source} is ignored: "${text}" is not ${read.wants}.`)
    else if (variable.type === 'cap') maxWindow ??= { value: Number(read.value), source }
    else if (read.value !== undefined && !isException(variable, valueAt(values, path))) {
      values = withValue(values, path, read.value)
      sources[name] = source
    }
  }
  return { settings: values, sources, maxWindow, warnings }
}

/** Deno throws if the program may not read a variable, which then counts as not set. */
function variableText(environment: Environment, name: string): string {
  try {
    return environment[name]?.trim() ?? ''
  } catch {
    return ''
  }
}

function valueAt(values: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => asGroup(value)[name], values)
}

function withValue(values: JsonObject, [name = '', ...rest]: readonly string[], value: unknown): JsonObject {
  return { ...values, [name]: rest.length === 0 ? value : withValue(asGroup(values[name]), rest, value) }
}

/** The settings of a group. `sessionMemory: false` is short for `sessionMemory: { isOn: false }`. */
function asGroup(value: unknown): JsonObject {
  if (typeof value === 'boolean') return { isOn: value }
  return isObject(value) ? value : {}
}

/** `second` replaces single settings of `first`, also inside groups. */
export function mergeSettings(first: EngineSettings, second: EngineSettings): EngineSettings {
  return mergeFields(settingsTable, first, second)
}

function mergeFields(fields: Fields, first: JsonObject, second: JsonObject): JsonObject {
  const replaced = Object.entries(second).map(([name, value]) => {
    const field = fields[name]
    const isInBoth = first[name] !== undefined && value !== undefined
    if (!isInBoth || field === undefined || !('fields' in field)) return [name, value ?? first[name]]
    return [name, mergeFields(field.fields, asGroup(first[name]), asGroup(value))]
  })
  return { ...first, ...Object.fromEntries(replaced) }
}

/** DISABLE_AUTO_COMPACT does not turn on what a setting has turned off. */
function isException(variable: Variable, value: unknown): boolean {
  return variable.type === 'flag' && variable.unless !== undefined && value === variable.unless
}

type ReadVariable = { readonly value: unknown } | { readonly wants: string }

function readVariable(variable: Variable, text: string, ruleOfSetting: Rule<unknown>): ReadVariable {
  if (variable.type === 'flag') return { value: isTruthy(text) ? variable.value : undefined }
  const isPercent = variable.type === 'percent'
  const rule = isPercent ? percent : ruleOfSetting
  const value = isPercent ? readPercent(text) : readNumber(text)
  if (!rule.accepts(value)) return rule
  return { value: isPercent ? `${value}%` : value }
}

/** True for 1, true, yes and on, in any case. */
export function isTruthy(text: string | undefined): boolean {
  return /^\s*(1|true|yes|on)\s*$/i.test(text ?? '')
}

type CompactionOffInput = {
  readonly settings?: Pick<EngineSettings, 'compaction'> | undefined
  readonly environment?: Environment | undefined
}

/** The reason why nothing compacts. Undefined if something may. */
export function compactionOff({ settings = {}, environment = {} }: CompactionOffInput): string | undefined {
  const read = readEnvironment(settings, environment)
  return read.settings.compaction === 'off'
    ? `Compaction is off: ${read.sources.compaction ?? 'setting compaction'}.`
    : undefined
}

/** `given` must be checked. */
export function completeSettings(given: EngineSettings = {}): Settings {
  const { economy, cacheMarks = settingsTable.cacheMarks.default } = given
  const settings = complete(settingsTable, given, economy) as Settings
  const { reductions } = settings
  // Only a cache with a lifetime of five minutes is cold after this pause.
  const idle = given.reductions?.byIdle?.minutes ?? (cacheMarks === '5m' ? reductions.byIdle.minutes : hourOfIdleness)
  return { ...settings, reductions: { ...reductions, byIdle: { ...reductions.byIdle, minutes: idle } } }
}

/** In minutes: the longest lifetime of a cache. */
const hourOfIdleness = 60

function complete(fields: Fields, given: object, economy: EngineSettings['economy']): object {
  const values = given as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const value = values[name]
      if ('fields' in field) {
        // Settings of a group turn it on if it can be turned off.
        const switched = field.or && isObject(value) ? { isOn: true } : {}
        return [name, complete(field.fields, { ...switched, ...asGroup(value) }, economy)]
      }
      return [name, value ?? (economy === 'claude-code' ? field.late : undefined) ?? field.default]
    }),
  )
}

export const defaultSettings: Settings = completeSettings()

export type CompactionSettings = Settings['summary']

export type ReductionSettings = Settings['reductions'] & {
  /** Keeps the id with which the recall tool finds the original. */
  readonly recall: boolean
}

export type ReductionChoices = NonNullable<EngineSettings['reductions']> & { readonly recall?: boolean | undefined }

/** For use outside a session, where it is unknown how long tokens were carried. Invalid values count as absent. */
export function reductionSettings({ recall = false, ...choices }: ReductionChoices = {}): ReductionSettings {
  const { settings } = checkSettings({ reductions: choices })
  const { reductions = {} } = settings
  return { ...(complete(settingsTable.reductions.fields, reductions, 'claude-code') as Settings['reductions']), recall }
}

/** The settings that determine sizes and thresholds. */
const sizeSettings = [
  'contextWindow',
  'maxOutputTokens',
  'compaction',
  'autoCompactAt',
  'blockingLimit',
  'warningDistance',
  'errorDistance',
] as const

export type SizeSettings = Pick<EngineSettings, (typeof sizeSettings)[number]>

type NumberName = Exclude<keyof SizeSettings, 'compaction' | 'autoCompactAt'>

export type ResolvedSettings = { readonly [Name in NumberName]: Sourced<number> | undefined } & {
  readonly compaction: Sourced<Settings['compaction']>
  /** A variable can only lower the threshold. */
  readonly autoCompactAt: (Sourced<Mark> & { readonly onlyLowers: boolean }) | undefined
  /** From the environment: the maximum size of the window. */
  readonly maxWindow: Sourced<number> | undefined
  readonly warnings: readonly string[]
}

export type SettingsInput = {
  readonly settings?: SizeSettings | undefined
  readonly environment?: Environment | undefined
  readonly model?: string | undefined
}

export function resolveSettings({ settings = {}, environment = {}, model }: SettingsInput): ResolvedSettings {
  const checked = checkSettings(sizeSettingsIn(settings))
  const read = readEnvironment(checked.settings, environment)
  const number = (name: NumberName): Sourced<number> | undefined => {
    const value = read.settings[name]
    return value === undefined ? undefined : { value, source: read.sources[name] ?? `setting ${name}` }
  }
  const { default: standard } = settingsTable.compaction
  const { compaction = standard } = read.settings
  return {
    contextWindow: number('contextWindow'),
    maxOutputTokens: number('maxOutputTokens'),
    blockingLimit: number('blockingLimit'),
    warningDistance: number('warningDistance'),
    errorDistance: number('errorDistance'),
    autoCompactAt: markFor(model, read),
    compaction: {
      value: compaction,
      source: read.sources.compaction ?? (compaction === standard ? 'default' : 'setting compaction'),
    },
    maxWindow: read.maxWindow,
    warnings: [...checked.problems.map(warningOf), ...read.warnings],
  }
}

/** The settings that differ from their default. */
export function sizeSettingsIn(all: SizeSettings): SizeSettings {
  const isSet = (name: (typeof sizeSettings)[number]) =>
    all[name] !== undefined && all[name] !== settingsTable[name].default
  return Object.fromEntries(sizeSettings.filter(isSet).map((name) => [name, all[name]]))
}

/** A setting by model: the longest prefix of its id counts. */
function markFor(model: string | undefined, { settings, sources }: ReadEnvironment): ResolvedSettings['autoCompactAt'] {
  const { autoCompactAt: given } = settings
  const onlyLowers = sources.autoCompactAt !== undefined
  const source = sources.autoCompactAt ?? 'setting autoCompactAt'
  if (typeof given !== 'object') return given === undefined ? undefined : { value: given, source, onlyLowers }
  const names = Object.keys(given).filter((name) => model?.startsWith(name))
  const [best = ''] = names.toSorted((a, b) => b.length - a.length)
  const value = given[best]
  return value === undefined ? undefined : { value, source: `${source}["${best}"]`, onlyLowers }
}

export function tokensOfMark(mark: Mark, window: number): number {
  return typeof mark === 'number' ? mark : Math.floor((window * readPercent(mark)) / 100)
}
