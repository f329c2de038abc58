// The settings of this room and the environment variables that override them. The environment is handed in; what
// cannot be read is ignored with one warning each.

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

const compactionValues = ['auto', 'ask', 'reactive', 'manual', 'off'] as const

export type Environment = { readonly [name: string]: string | undefined }

/** A setting that was found, and the name it goes by. */
export type Setting<T> = { readonly value: T; readonly source: string }

/** What holds, each with its source; the environment comes before the settings. */
export type ResolvedSettings = {
  readonly contextWindow: Setting<number> | undefined
  readonly maxOutputTokens: Setting<number> | undefined
  readonly autoCompactWindow: Setting<number> | undefined
  readonly compaction: Setting<CompactionSetting>
  readonly autoCompactAt: Setting<Mark> | undefined
  readonly autoCompactPercent: Setting<number> | undefined
  readonly blockingLimit: Setting<number> | undefined
  readonly warningDistance: Setting<number> | undefined
  readonly errorDistance: Setting<number> | undefined
  readonly warnings: readonly string[]
}

export type SettingsInput = {
  readonly settings?: TokenSettings | undefined
  readonly environment?: Environment | undefined
  readonly model?: string | undefined
}

type Rule = { readonly accepts: (value: number) => boolean; readonly wants: string }

const tokens: Rule = {
  accepts: (value) => Number.isSafeInteger(value) && value > 0,
  wants: 'a whole number of tokens above 0',
}
const distance: Rule = { accepts: (value) => Number.isFinite(value) && value >= 0, wants: 'a number of tokens' }
const percent: Rule = { accepts: (value) => value > 0 && value <= 100, wants: 'a percentage above 0 and up to 100' }

/** True for 1, true, yes and on, in any case. */
export function isTruthy(text: string | undefined): boolean {
  return /^\s*(1|true|yes|on)\s*$/i.test(text ?? '')
}

export function resolveSettings({ settings = {}, environment = {}, model }: SettingsInput): ResolvedSettings {
  const warnings: string[] = []
  const number = (name: keyof TokenSettings, rule: Rule, variables: readonly string[] = []) =>
    fromEnvironment({ environment, variables, rule, warnings }) ?? fromSettings({ settings, name, rule, warnings })
  return {
    contextWindow: number('contextWindow', tokens),
    maxOutputTokens: number('maxOutputTokens', tokens),
    autoCompactWindow: number('autoCompactWindow', tokens, [
      'EVERLONG_AUTO_COMPACT_WINDOW',
      'CLAUDE_CODE_AUTO_COMPACT_WINDOW',
    ]),
    compaction: compactionOf(settings.compaction, environment, warnings),
    autoCompactAt: markOf(settings.autoCompactAt, { model, warnings }),
    autoCompactPercent: number('autoCompactPercent', percent, [
      'EVERLONG_AUTOCOMPACT_PCT',
      'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE',
    ]),
    blockingLimit: number('blockingLimit', tokens, ['EVERLONG_BLOCKING_LIMIT', 'CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE']),
    warningDistance: number('warningDistance', distance),
    errorDistance: number('errorDistance', distance),
    warnings,
  }
}

/** Why nothing compacts, in words, or undefined where something may: the one answer of all who compact. */
export function compactionOff(input: SettingsInput): string | undefined {
  const { value, source } = resolveSettings(input).compaction
  return value === 'off' ? `Compaction is off: ${source}.` : undefined
}

type Search = { readonly rule: Rule; readonly warnings: string[] }

/** The first of the spellings that can be read; an empty variable is as good as none. */
function fromEnvironment(
  search: Search & { readonly environment: Environment; readonly variables: readonly string[] },
): Setting<number> | undefined {
  for (const variable of search.variables) {
    const text = search.environment[variable]?.trim() ?? ''
    if (text === '') continue
    const value = readNumber(text)
    if (search.rule.accepts(value)) return { value, source: variable }
    search.warnings.push(`${variable} is ignored: "${text}" is not ${search.rule.wants}.`)
  }
  return undefined
}

function fromSettings(
  search: Search & { readonly settings: TokenSettings; readonly name: keyof TokenSettings },
): Setting<number> | undefined {
  const value: unknown = search.settings[search.name]
  if (value === undefined) return undefined
  if (typeof value === 'number' && search.rule.accepts(value)) return { value, source: `setting ${search.name}` }
  search.warnings.push(`The setting ${search.name} is ignored: ${String(value)} is not ${search.rule.wants}.`)
  return undefined
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

function markOf(
  value: TokenSettings['autoCompactAt'],
  at: { readonly model: string | undefined; readonly warnings: string[] },
): Setting<Mark> | undefined {
  if (value === undefined) return undefined
  const [name, mark] =
    typeof value === 'object' && value !== null ? markOfModel(value, at.model) : ['autoCompactAt', value]
  if (mark === undefined) return undefined
  const isShare =
    typeof mark === 'string' && mark.endsWith('%') && percent.accepts(readNumber(mark.slice(0, -1).trim()))
  if (isShare || (typeof mark === 'number' && tokens.accepts(mark))) return { value: mark, source: `setting ${name}` }
  at.warnings.push(
    `The setting ${name} is ignored: ${String(mark)} is neither ${tokens.wants} nor a share such as "80%".`,
  )
  return undefined
}

function markOfModel(marks: { readonly [model: string]: Mark }, model = ''): readonly [string, Mark | undefined] {
  const [best] = Object.keys(marks)
    .filter((name) => model.startsWith(name))
    .toSorted((a, b) => b.length - a.length)
  return [`autoCompactAt["${best}"]`, best === undefined ? undefined : marks[best]]
}

/** A mark in tokens of this window. */
export function tokensOfMark(mark: Mark, window: number): number {
  return typeof mark === 'number' ? mark : Math.floor((window * readNumber(mark.slice(0, -1).trim())) / 100)
}
