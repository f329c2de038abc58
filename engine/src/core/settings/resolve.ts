// The settings that sizes and thresholds depend on, with their sources.
import { checkSettings, warningOf } from './check.ts'
import { type Environment, type ReadEnvironment, readEnvironment, type Sourced } from './environment.ts'
import { type Mark, readPercent } from './rules.ts'
import { type EngineSettings, type Settings, settingsTable } from './table.ts'

/** The settings that sizes and thresholds depend on. */
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
  /** From the environment: the window is at most this large. */
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

/** Those that are set to something other than their default. */
export function sizeSettingsIn(all: SizeSettings): SizeSettings {
  const isSet = (name: (typeof sizeSettings)[number]) =>
    all[name] !== undefined && all[name] !== settingsTable[name].default
  return Object.fromEntries(sizeSettings.filter(isSet).map((name) => [name, all[name]]))
}

/** By model, the longest prefix of its id counts. */
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
