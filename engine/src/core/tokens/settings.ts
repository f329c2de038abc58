// Token settings and the environment variables that override them. What cannot be read is ignored with a warning.

/** A number of tokens, or a share of the effective window. */
export type Mark = number | `${number}%`

export type TokenSettings = {
  readonly contextWindow?: number | undefined
  readonly maxOutputTokens?: number | undefined
  /** Makes the window smaller, to try things out. */
  readonly autoCompactWindow?: number | undefined
  /** When the context is compacted. Default: auto. */
  readonly compaction?: CompactionSetting | undefined
  /** Compact earlier than the default: for every model, or by model (the longest prefix of its id counts). */
  readonly autoCompactAt?: Mark | { readonly [model: string]: Mark } | undefined
  /** A percentage of the effective window. */
  readonly autoCompactPercent?: number | undefined
  readonly blockingLimit?: number | undefined
  /** How many tokens before the limit the gauge turns yellow. */
  readonly warningDistance?: number | undefined
  /** How many tokens before the limit the gauge turns red. */
  readonly errorDistance?: number | undefined
}

/**
 * auto: at the threshold, and when the provider says that the prompt is too long. ask: the same, after the host's `ask`
 * agreed. reactive: only when the provider says so. manual: only `session.compact()`. off: never, and nothing is cleared.
 */
export type CompactionSetting = (typeof compactionValues)[number]

export const compactionValues = ['auto', 'ask', 'reactive', 'manual', 'off'] as const

export type Environment = { readonly [name: string]: string | undefined }

export type Setting<T> = { readonly value: T; readonly source: string }

type NumberSetting = Exclude<keyof TokenSettings, 'compaction' | 'autoCompactAt'>

/** What holds, each with its source; the environment comes before the settings. */
export type ResolvedSettings = { readonly [Name in NumberSetting]: Setting<number> | undefined } & {
  readonly compaction: Setting<CompactionSetting>
  readonly autoCompactAt: Setting<Mark> | undefined
  readonly warnings: readonly string[]
}

export type SettingsInput = {
  readonly settings?: TokenSettings | undefined
  readonly environment?: Environment | undefined
  readonly model?: string | undefined
}

type Rule = { readonly accepts: (value: number) => boolean; readonly wants: string }

export const tokens: Rule = {
  accepts: (value) => Number.isSafeInteger(value) && value > 0,
  wants: 'a whole number of tokens above 0',
}
export const distance: Rule = { accepts: (value) => Number.isFinite(value) && value >= 0, wants: 'a number of tokens' }
export const percent: Rule = {
  accepts: (value) => value > 0 && value <= 100,
  wants: 'a percentage above 0 and up to 100',
}

/** Ours first. */
const variables: { readonly [Name in NumberSetting]?: readonly string[] } = {
  autoCompactWindow: ['EVERLONG_AUTO_COMPACT_WINDOW', 'CLAUDE_CODE_AUTO_COMPACT_WINDOW'],
  autoCompactPercent: ['EVERLONG_AUTOCOMPACT_PCT', 'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE'],
  blockingLimit: ['EVERLONG_BLOCKING_LIMIT', 'CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE'],
}

/** True for 1, true, yes and on, in any case. */
export function isTruthy(text: string | undefined): boolean {
  return /^\s*(1|true|yes|on)\s*$/i.test(text ?? '')
}

export function resolveSettings({ settings = {}, environment = {}, model }: SettingsInput): ResolvedSettings {
  const warnings: string[] = []
  /** The first of the variables that can be read, else the setting; an empty variable is as good as none. */
  const number = (name: NumberSetting, rule: Rule): Setting<number> | undefined => {
    for (const variable of variables[name] ?? []) {
      const text = environment[variable]?.trim() ?? ''
      if (text === '') continue
      // EVERLONG_AUTOCOMPACT_PCT=80%
      const value = readNumber(name === 'autoCompactPercent' ? text.replace(/\s*%$/, '') : text)
      if (rule.accepts(value)) return { value, source: variable }
      warnings.push(`${variable} is ignored: "${text}" is not ${rule.wants}.`)
    }
    const value: unknown = settings[name]
    if (typeof value === 'number' && rule.accepts(value)) return { value, source: `setting ${name}` }
    if (value !== undefined) warnings.push(`The setting ${name} is ignored: ${String(value)} is not ${rule.wants}.`)
    return undefined
  }
  return {
    contextWindow: number('contextWindow', tokens),
    maxOutputTokens: number('maxOutputTokens', tokens),
    autoCompactWindow: number('autoCompactWindow', tokens),
    compaction: compactionOf(settings.compaction, environment, warnings),
    autoCompactAt: markOf(settings.autoCompactAt, model, warnings),
    autoCompactPercent: number('autoCompactPercent', percent),
    blockingLimit: number('blockingLimit', tokens),
    warningDistance: number('warningDistance', distance),
    errorDistance: number('errorDistance', distance),
    warnings,
  }
}

/** Why nothing compacts, or undefined if something may. */
export function compactionOff(input: SettingsInput): string | undefined {
  const { value, source } = resolveSettings(input).compaction
  return value === 'off' ? `Compaction is off: ${source}.` : undefined
}

/** Digits, with underscores or commas between them and a fraction if need be; NaN for all else ("12abc", "0x10"). */
function readNumber(text: string): number {
  return /^\d[\d_,]*(\.\d+)?$/.test(text) ? Number(text.replace(/[_,]/g, '')) : Number.NaN
}

/** The environment can turn off more than the settings do, never less. */
function compactionOf(given: unknown, environment: Environment, warnings: string[]): Setting<CompactionSetting> {
  if (isTruthy(environment.DISABLE_COMPACT)) return { value: 'off', source: 'DISABLE_COMPACT' }
  const value = compactionValues.find((known) => known === given)
  if (given !== undefined && value === undefined) {
    warnings.push(`The setting compaction is ignored: ${String(given)} is not one of ${compactionValues.join(', ')}.`)
  }
  if (value !== 'off' && isTruthy(environment.DISABLE_AUTO_COMPACT)) {
    return { value: 'manual', source: 'DISABLE_AUTO_COMPACT' }
  }
  return value === undefined ? { value: 'auto', source: 'default' } : { value, source: 'setting compaction' }
}

/** By model, the longest prefix of its id counts. */
function markOf(
  given: TokenSettings['autoCompactAt'],
  model: string | undefined,
  warnings: string[],
): Setting<Mark> | undefined {
  const isByModel = typeof given === 'object' && given !== null
  const names = isByModel ? Object.keys(given).filter((name) => model?.startsWith(name)) : []
  const [best = ''] = names.toSorted((a, b) => b.length - a.length)
  const mark = isByModel ? given[best] : given
  if (mark === undefined) return undefined
  const source = `setting autoCompactAt${isByModel ? `["${best}"]` : ''}`
  if (isMark(mark)) return { value: mark, source }
  warnings.push(`The ${source} is ignored: ${String(mark)} is neither ${tokens.wants} nor a share such as "80%".`)
  return undefined
}

export function isMark(value: unknown): value is Mark {
  if (typeof value === 'number') return tokens.accepts(value)
  return typeof value === 'string' && value.endsWith('%') && percent.accepts(shareOf(value))
}

function shareOf(mark: string): number {
  return readNumber(mark.slice(0, -1).trim())
}

export function tokensOfMark(mark: Mark, window: number): number {
  return typeof mark === 'number' ? mark : Math.floor((window * shareOf(mark)) / 100)
}
