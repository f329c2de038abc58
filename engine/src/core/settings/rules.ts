// The parts of the settings table: rules for values, environment variables, and the types derived from a table.
import { isObject } from '../message/json.ts'

/** `wants` completes a warning: `4.5 is not a number of messages`. */
export type Rule<T> = { readonly wants: string; readonly accepts: (value: unknown) => value is T }

/** A variable of the environment that overrides a setting. */
export type Variable =
  /** Sets `value` if the variable is 1, true, yes or on. Does not override the value `unless`. */
  | { readonly type: 'flag'; readonly name: string; readonly value: unknown; readonly unless?: unknown }
  /** The number must satisfy the rule of the setting. A percentage is above 0 and at most 100. */
  | { readonly type: 'number' | 'percent'; readonly name: string }
  /** A number that can only make the setting smaller. */
  | { readonly type: 'cap'; readonly name: string }

type Details<T> = {
  /** The default with `economy: 'claude-code'`, which clears and compacts late. */
  readonly late?: T
  /** The first valid one counts. */
  readonly environment?: readonly Variable[]
}

export type Setting<T, Default = T | undefined> = Rule<T> &
  Details<T> & {
    readonly default: Default
    /** For an object whose names the host chooses: the rule for each value. */
    readonly each?: Rule<unknown>
  }

export type Group<F> = {
  readonly fields: F
  /**
   * For a group with a setting `isOn`, which can be turned on and off as a whole. `name: false` is short for
   * `name: { isOn: false }`, and an object without `isOn` turns the group on.
   */
  readonly or?: Rule<boolean>
}

export type Fields = { readonly [name: string]: Setting<unknown> | Group<Fields> }

/** The settings that a host may pass. All are optional. */
export type Given<F> = { readonly [Name in keyof F]?: GivenValue<F[Name]> | undefined }

type GivenValue<F> = F extends { readonly fields: infer Inner }
  ? Given<Inner> | (F extends { readonly or: Rule<infer Other> } ? Other : never)
  : F extends Rule<infer T>
    ? T
    : never

/** The settings with defaults. A setting may be undefined only if its default depends on something else. */
export type Complete<F> = {
  readonly [Name in keyof F]: F[Name] extends { readonly fields: infer Inner }
    ? Complete<Inner>
    : F[Name] extends Rule<infer T>
      ? F[Name] extends { readonly default: undefined }
        ? T | undefined
        : T
      : never
}

/** Without a default here, the comment of the setting says what the default depends on. */
export function setting<T>(rule: Rule<T>): Setting<T, undefined>
export function setting<T>(rule: Rule<T>, value: NoInfer<T>, details?: Details<NoInfer<T>>): Setting<T, T>
export function setting<T>(rule: Rule<T>, value: undefined, details: Details<NoInfer<T>>): Setting<T, undefined>
export function setting<T>(rule: Rule<T>, value?: T, details: Details<T> = {}): Setting<T> {
  return { ...rule, ...details, default: value }
}

export const flag = (name: string, value: unknown, unless?: unknown): Variable => ({
  type: 'flag',
  name,
  value,
  unless,
})

function number(wants: string, isRight: (value: number) => boolean): Rule<number> {
  return {
    wants,
    accepts: (value): value is number => typeof value === 'number' && Number.isFinite(value) && isRight(value),
  }
}

export function oneOf<const T extends readonly (string | boolean | null)[]>(...values: T): Rule<T[number]> {
  return {
    wants: `one of ${values.map(String).join(', ')}`,
    accepts: (value): value is T[number] => values.some((each) => each === value),
  }
}

export function either<A, B>(one: Rule<A>, other: Rule<B>): Rule<A | B> {
  return {
    wants: `${one.wants}, or ${other.wants}`,
    accepts: (value): value is A | B => one.accepts(value) || other.accepts(value),
  }
}

/** An object with only this field. */
export function only<Name extends string, T>(name: Name, rule: Rule<T>): Rule<{ readonly [Key in Name]: T }> {
  return {
    wants: `{ ${name}: ${rule.wants} }`,
    accepts: (value): value is { readonly [Key in Name]: T } =>
      isObject(value) && Object.keys(value).length === 1 && rule.accepts(value[name]),
  }
}

/** An object with a value for each name that the host chooses. Invalid values are dropped one by one. */
export function byName<T>(each: Rule<T>): Rule<{ readonly [name: string]: T }> & { readonly each: Rule<T> } {
  return {
    wants: `an object with ${each.wants} for each name`,
    accepts: (value): value is { readonly [name: string]: T } =>
      isPlainObject(value) && Object.values(value).every((item) => each.accepts(item)),
    each,
  }
}

/** One value, or an object with one value per name. */
export function oneOrByName<T>(rule: Rule<T>): Rule<T | { readonly [name: string]: T }> & { readonly each: Rule<T> } {
  const { accepts } = either(rule, byName(rule))
  return { wants: `${rule.wants}, or an object with one for each name`, accepts, each: rule }
}

/** False for a Date or a Map, which look like objects without settings. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false
  return Object.keys(value).length > 0 || [Object.prototype, null].includes(Object.getPrototypeOf(value))
}

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0

export const boolean: Rule<boolean> = {
  wants: 'true or false',
  accepts: (value): value is boolean => typeof value === 'boolean',
}
export const text: Rule<string> = {
  wants: 'a text',
  accepts: (value): value is string => typeof value === 'string' && value !== '',
}
export const texts: Rule<readonly string[]> = {
  wants: 'a list of texts',
  accepts: (value): value is readonly string[] =>
    Array.isArray(value) && value.every((each) => typeof each === 'string'),
}
export const tokens = number('a whole number of tokens above 0', (value) => isCount(value) && value > 0)
export const anyTokens = number('a whole number of tokens', isCount)
export const wholeNumber = (min = 0): Rule<number> =>
  number(
    min === 0 ? 'a whole number' : `a whole number of at least ${min}`,
    (value) => Number.isSafeInteger(value) && value >= min,
  )
export const messages = number('a number of messages', isCount)
export const distance = number('a number of tokens', (value) => value >= 0)
export const minutes = number('a number of minutes', (value) => value >= 0)
export const milliseconds = number('a number of milliseconds', (value) => value >= 0)
export const share = number('a share between 0 and 1', (value) => value > 0 && value < 1)
export const percent = number('a percentage above 0 and up to 100', (value) => value > 0 && value <= 100)

/** A number of tokens, or a percentage of the effective window. */
export type Mark = number | `${number}%`

// Spelled out, so that the reference does not print the type's name.
export const mark: Rule<number | `${number}%`> = {
  wants: `${tokens.wants}, or a share such as "80%"`,
  accepts: (value): value is Mark =>
    typeof value === 'string' ? value.endsWith('%') && percent.accepts(readPercent(value)) : tokens.accepts(value),
}

/** 80 for `80%` or `80 %`; NaN if invalid. */
export function readPercent(value: string): number {
  return readNumber(value.replace(/\s*%$/, '').trim())
}

/** Accepts digits, with underscores or commas between them, and a fraction. NaN for everything else, such as "12abc" or "0x10". */
export function readNumber(value: string): number {
  return /^\d[\d_,]*(\.\d+)?$/.test(value) ? Number(value.replace(/[_,]/g, '')) : Number.NaN
}
