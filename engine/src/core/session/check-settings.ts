// The table of all settings with the values that each may have. What a host gives is checked against it once, when a
// session starts: an unknown name or an unreadable value is left out and named in a warning, so nothing fails later.
import { isObject } from '../message/json.ts'
import { describeValue } from '../ports/guarded.ts'
import { nearest } from '../text/nearest.ts'
import * as rules from '../tokens/settings.ts'
import { toolKinds } from '../tools/call.ts'
import type { EngineSettings } from './settings.ts'

/** A value, in the words of a warning: `4.5 is not a number of messages`. */
type Rule = { readonly wants: string; readonly accepts: (value: unknown) => boolean }

type Field =
  | Rule
  /** A group of settings, or one value for all of it. */
  | { readonly fields: Fields; readonly or?: Rule }
  /** A value for each name that the host chooses. */
  | { readonly each: Rule; readonly or?: Rule }

type Fields = { readonly [name: string]: Field }

/** The compiler asks for a setting that is missing here. */
type Table<T> = { readonly [Name in keyof T]-?: Field }

const number = (wants: string, isRight: (value: number) => boolean): Rule => ({
  wants,
  accepts: (value) => typeof value === 'number' && Number.isFinite(value) && isRight(value),
})
const oneOf = (...values: readonly unknown[]): Rule => ({
  wants: values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`,
  accepts: (value) => values.includes(value),
})
const either = (one: Rule, other: Rule): Rule => ({
  wants: `${one.wants}, or ${other.wants}`,
  accepts: (value) => one.accepts(value) || other.accepts(value),
})
/** An object with this one field. */
const only = (name: string, rule: Rule): Rule => ({
  wants: `{ ${name}: ${rule.wants} }`,
  accepts: (value) => isObject(value) && Object.keys(value).length === 1 && rule.accepts(value[name]),
})

const boolean: Rule = { wants: 'true or false', accepts: (value) => typeof value === 'boolean' }
const text: Rule = { wants: 'a text', accepts: (value) => typeof value === 'string' && value !== '' }
const texts: Rule = {
  wants: 'a list of texts',
  accepts: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
}
const tokens = number(rules.tokens.wants, rules.tokens.accepts)
const anyTokens = number('a whole number of tokens', (value) => Number.isSafeInteger(value) && value >= 0)
const count = number('a whole number', (value) => Number.isSafeInteger(value) && value >= 0)
const distance = number(rules.distance.wants, rules.distance.accepts)
const minutes = number('a number of minutes', (value) => value >= 0)
const milliseconds = number('a number of milliseconds', (value) => value >= 0)
const share = number('a share between 0 and 1', (value) => value > 0 && value < 1)
const percent = number(rules.percent.wants, rules.percent.accepts)
const mark: Rule = { wants: `${tokens.wants}, or a share such as "80%"`, accepts: rules.isMark }

const summary: Table<NonNullable<EngineSettings['summary']>> = {
  model: text,
  shareCache: boolean,
  offline: oneOf('always', 'overflow', 'never'),
  handoverTokens: tokens,
  summaryTokens: tokens,
  restoreTokens: anyTokens,
  boundThinking: oneOf('remove', 'decline'),
  serverCompaction: oneOf('off', 'on-demand'),
}

type Reductions = NonNullable<EngineSettings['reductions']>
const bySize: Table<NonNullable<Reductions['bySize']>> = { keep: count, target: anyTokens, minFreed: anyTokens }
const byIdle: Table<NonNullable<Reductions['byIdle']>> = { minutes, keep: count }
const byCacheEdit: Table<NonNullable<Reductions['byCacheEdit']>> = { trigger: count, keep: count }
const native: Table<NonNullable<Reductions['native']>> = {
  toolResults: boolean,
  toolInputs: boolean,
  thinking: boolean,
  trigger: anyTokens,
  keepTokens: anyTokens,
  clearAtLeast: anyTokens,
  idleMinutes: minutes,
}
const reductions: Table<Reductions> = {
  microCompact: oneOf(false, 'above-warning', 'always'),
  weigh: boolean,
  reproducible: texts,
  toolKinds: { each: oneOf(...toolKinds, null) },
  boundThinking: oneOf('delegate', 'remove', 'decline'),
  keepFinished: boolean,
  clearInputs: boolean,
  bySize: { fields: bySize },
  byIdle: { fields: byIdle },
  byCacheEdit: { fields: byCacheEdit },
  native: { fields: native },
}

type Memory = Exclude<NonNullable<EngineSettings['sessionMemory']>, boolean>
const memoryKeep: Table<NonNullable<Memory['keep']>> = {
  minTokens: anyTokens,
  maxTokens: anyTokens,
  minMessages: count,
}
const sessionMemory: Table<Memory> = {
  isOn: boolean,
  minTokens: anyTokens,
  growth: anyTokens,
  toolCalls: count,
  keep: { fields: memoryKeep },
}

export const settingsTable: Table<EngineSettings> = {
  compaction: oneOf(...rules.compactionValues),
  keep: either({ ...count, wants: 'a number of messages' }, only('tokens', anyTokens)),
  target: share,
  economy: oneOf('default', 'thrifty'),
  collapse: boolean,
  background: either(boolean, only('from', share)),
  askTimeoutMs: milliseconds,
  recall: boolean,
  isAutonomous: boolean,
  contextWindow: tokens,
  maxOutputTokens: tokens,
  autoCompactWindow: tokens,
  autoCompactAt: { each: mark, or: mark },
  autoCompactPercent: percent,
  blockingLimit: tokens,
  warningDistance: distance,
  errorDistance: distance,
  cacheMarks: oneOf(false, '5m', '1h'),
  estimator: oneOf('fitted', 'chars/4'),
  summary: { fields: summary },
  reductions: { fields: reductions },
  sessionMemory: { fields: sessionMemory, or: boolean },
}

export type CheckedSettings = { readonly settings: EngineSettings; readonly warnings: readonly string[] }

/** Only what can be read. A warning names everything else and what it may be. */
export function checkSettings(given: unknown): CheckedSettings {
  const warnings: string[] = []
  if (given === undefined) return { settings: {}, warnings }
  if (!isGroup(given)) {
    return { settings: {}, warnings: [`The settings are ignored: ${describeValue(given)} is not an object.`] }
  }
  const settings = checkGroup(withoutOtherNames(given, warnings), { fields: settingsTable, path: '' }, warnings)
  return { settings: settings as EngineSettings, warnings }
}

/** `autoCompactEnabled` of other tools. Our own `compaction` comes first. */
function withoutOtherNames(given: Readonly<Record<string, unknown>>, warnings: string[]) {
  const { autoCompactEnabled, ...settings } = given
  if (autoCompactEnabled === undefined) return settings
  if (boolean.accepts(autoCompactEnabled)) return { compaction: autoCompactEnabled ? 'auto' : 'manual', ...settings }
  warnings.push(ignoredText('autoCompactEnabled', autoCompactEnabled, boolean))
  return settings
}

function ignoredText(path: string, value: unknown, { wants }: Rule): string {
  return `The setting ${path} is ignored: ${describeValue(value)} is not ${wants}.`
}

/** Not a Date or a Map, which look like objects without settings. */
function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false
  return Object.keys(value).length > 0 || [Object.prototype, null].includes(Object.getPrototypeOf(value))
}

type Group = { readonly fields: Fields; readonly path: string }

function checkGroup(given: Readonly<Record<string, unknown>>, { fields, path }: Group, warnings: string[]): object {
  const entries = Object.entries(given).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (value === undefined) return []
    if (!field) warnings.push(unknownText(name, { fields, path }))
    const checked = field && checkField(value, { field, path: `${path}${name}` }, warnings)
    return checked === undefined ? [] : [[name, checked]]
  })
  return Object.fromEntries(entries)
}

type Place = { readonly field: Field; readonly path: string }

/** Undefined if it cannot be read. */
function checkField(value: unknown, { field, path }: Place, warnings: string[]): unknown {
  const ignore = (where: string, what: unknown, rule: Rule) => {
    warnings.push(ignoredText(where, what, rule))
  }
  if ('accepts' in field) return field.accepts(value) ? value : ignore(path, value, field)
  if (field.or?.accepts(value)) return value
  if (!isGroup(value)) return ignore(path, value, ruleOfGroup(field))
  if ('fields' in field) return checkGroup(value, { fields: field.fields, path: `${path}.` }, warnings)
  const entries = Object.entries(value).filter(([name, each]) => {
    if (each !== undefined && !field.each.accepts(each)) ignore(`${path}["${name}"]`, each, field.each)
    return field.each.accepts(each)
  })
  return Object.fromEntries(entries)
}

function ruleOfGroup(field: Exclude<Field, Rule>): Rule {
  const wants = 'fields' in field ? 'an object of settings' : `an object with ${field.each.wants} for each name`
  const group: Rule = { wants, accepts: isGroup }
  return field.or ? either(field.or, group) : group
}

/** Names of version 0.1. Remove this after the next version. */
const renamed: Readonly<Record<string, string>> = {
  'reductions.bySize.least': 'reductions.bySize.minFreed',
  'sessionMemory.first': 'sessionMemory.minTokens',
  'sessionMemory.keep.tokens': 'sessionMemory.keep.minTokens',
  'sessionMemory.keep.mostTokens': 'sessionMemory.keep.maxTokens',
  'sessionMemory.keep.messages': 'sessionMemory.keep.minMessages',
  mostConversations: 'maxConversations',
}

/** `There is no setting contextWindw: did you mean contextWindow?` */
function unknownText(name: string, { fields, path }: Group): string {
  const full = `${path}${name}`
  if (Object.hasOwn(renamed, full)) return `There is no setting ${full}: it was renamed to ${renamed[full]}.`
  const here = nearest(name, Object.keys(fields))
  const elsewhere = pathsIn(settingsTable).filter(
    (other) => other.split('.').at(-1)?.toLowerCase() === name.toLowerCase(),
  )
  const meant = here === undefined ? elsewhere[0] : `${path}${here}`
  return `There is no setting ${path}${name}${meant === undefined ? '; it is ignored.' : `: did you mean ${meant}?`}`
}

/** `summary.handoverTokens` */
export function pathsIn(fields: Fields, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    'fields' in field ? pathsIn(field.fields, `${prefix}${name}.`) : [`${prefix}${name}`],
  )
}

/** `createEngine() has no option setings: did you mean settings?` */
export function unknownOptions(given: object, known: readonly string[]): readonly string[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => {
      if (Object.hasOwn(renamed, name))
        return `createEngine() has no option ${name}: it was renamed to ${renamed[name]}.`
      const meant = nearest(name, known)
      return `createEngine() has no option ${name}${meant === undefined ? '; it is ignored.' : `: did you mean ${meant}?`}`
    })
}
