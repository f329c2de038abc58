// Reads the environment. One rule for all settings: environment variables come before settings, settings before defaults.
import { type Fields, percent, readNumber, readPercent, tokens, type Variable } from './rules.ts'
import { type EngineSettings, settingsTable } from './table.ts'

export type Environment = { readonly [name: string]: string | undefined }

export type Sourced<T> = { readonly value: T; readonly source: string }

export type ReadEnvironment = {
  /** With the values of variables. */
  readonly settings: EngineSettings
  /** The variable of each setting that one was read for. */
  readonly sources: { readonly [name: string]: string }
  readonly maxWindow: Sourced<number> | undefined
  readonly warnings: readonly string[]
}

const withVariables = Object.entries<Fields[string]>(settingsTable).flatMap(([name, field]) =>
  'fields' in field ? [] : (field.environment ?? []).map((variable) => ({ name, variable })),
)

/** The first variable of a setting that can be read counts. An empty one is as good as none. */
export function readEnvironment(settings: EngineSettings, environment: Environment): ReadEnvironment {
  const values: Record<string, unknown> = { ...settings }
  const sources: Record<string, string> = {}
  const warnings: string[] = []
  let maxWindow: Sourced<number> | undefined
  for (const { name, variable } of withVariables) {
    const source = variable.name
    const text = environment[source]?.trim() ?? ''
    if (text === '' || sources[name] !== undefined) continue
    const read = readVariable(variable, text)
    if ('wants' in read) warnings.push(`${source} is ignored: "${text}" is not ${read.wants}.`)
    else if (variable.type === 'cap') maxWindow ??= { value: Number(read.value), source }
    else if (read.value !== undefined && !isException(variable, values[name])) {
      values[name] = read.value
      sources[name] = source
    }
  }
  return { settings: values, sources, maxWindow, warnings }
}

/** DISABLE_AUTO_COMPACT does not turn on what a setting has turned off. */
function isException(variable: Variable, value: unknown): boolean {
  return variable.type === 'flag' && variable.unless !== undefined && value === variable.unless
}

function readVariable(variable: Variable, text: string): { readonly value: unknown } | { readonly wants: string } {
  if (variable.type === 'flag') return { value: isTruthy(text) ? variable.value : undefined }
  const isPercent = variable.type === 'percent'
  const rule = isPercent ? percent : tokens
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

/** Why nothing compacts, or undefined if something may. */
export function compactionOff({ settings = {}, environment = {} }: CompactionOffInput): string | undefined {
  const read = readEnvironment(settings, environment)
  return read.settings.compaction === 'off'
    ? `Compaction is off: ${read.sources.compaction ?? 'setting compaction'}.`
    : undefined
}
