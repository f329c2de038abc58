// Checks settings against the table once, when an engine is created. Drops an unknown name or an invalid value and reports what
// is allowed, so that nothing fails later.
import { describeValue } from '../message/json.ts'
import { boolean, either, type Fields, isPlainObject, type Rule } from './rules.ts'
import { type EngineSettings, renamedSettings, settingsTable } from './table.ts'

export type SettingProblem =
  /** `hint`: `did you mean contextWindow?`, or the new name of a setting that was renamed. */
  | { readonly type: 'unknown'; readonly path: string; readonly hint: string | undefined }
  /** `why`: `4.5 is not a number of messages`. */
  | { readonly type: 'unreadable'; readonly path: string; readonly why: string }

export type CheckedSettings = { readonly settings: EngineSettings; readonly problems: readonly SettingProblem[] }

/** Valid settings, and the problems of the others. */
export function checkSettings(given: unknown): CheckedSettings {
  const problems: SettingProblem[] = []
  if (given === undefined) return { settings: {}, problems }
  if (!isPlainObject(given)) {
    const why = `${describeValue(given)} is not an object`
    return { settings: {}, problems: [{ type: 'unreadable', path: '', why }] }
  }
  const settings = checkGroup(withoutForeignNames(given, problems), { fields: settingsTable, path: '' }, problems)
  return { settings: settings as EngineSettings, problems }
}

/** `There is no setting contextWindw: did you mean contextWindow?` */
export function warningOf(problem: SettingProblem): string {
  const { path } = problem
  if (problem.type === 'unknown') return `There is no setting ${path}${hintText(problem.hint)}`
  return `The ${path === '' ? 'settings are' : `setting ${path} is`} ignored: ${problem.why}.`
}

function hintText(hint: string | undefined): string {
  return hint === undefined ? '; it is ignored.' : `: ${hint}`
}

/** `autoCompactEnabled` of other tools. Our own `compaction` has priority. */
function withoutForeignNames(given: Readonly<Record<string, unknown>>, problems: SettingProblem[]) {
  const { autoCompactEnabled, ...settings } = given
  if (autoCompactEnabled === undefined) return settings
  if (boolean.accepts(autoCompactEnabled)) return { compaction: autoCompactEnabled ? 'auto' : 'manual', ...settings }
  problems.push(unreadable('autoCompactEnabled', autoCompactEnabled, boolean))
  return settings
}

function unreadable(path: string, value: unknown, { wants }: Pick<Rule<unknown>, 'wants'>): SettingProblem {
  return { type: 'unreadable', path, why: `${describeValue(value)} is not ${wants}` }
}

type Place = { readonly fields: Fields; readonly path: string }

function checkGroup(
  given: Readonly<Record<string, unknown>>,
  { fields, path }: Place,
  problems: SettingProblem[],
): object {
  const entries = Object.entries(given).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    if (value === undefined) return []
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field) problems.push({ type: 'unknown', path: `${path}${name}`, hint: hintFor(name, { fields, path }) })
    const checked = field && checkField(value, { field, path: `${path}${name}` }, problems)
    return checked === undefined ? [] : [[name, checked]]
  })
  return Object.fromEntries(entries)
}

/** Undefined if the value is invalid. */
function checkField(
  value: unknown,
  { field, path }: { readonly field: Fields[string]; readonly path: string },
  problems: SettingProblem[],
): unknown {
  if ('fields' in field) {
    if (field.or?.accepts(value)) return value
    if (isPlainObject(value)) return checkGroup(value, { fields: field.fields, path: `${path}.` }, problems)
    const group: Rule<object> = { wants: 'an object of settings', accepts: isPlainObject }
    problems.push(unreadable(path, value, field.or ? either(field.or, group) : group))
    return undefined
  }
  if (field.accepts(value)) return value
  const { each } = field
  if (!each || !isPlainObject(value)) {
    problems.push(unreadable(path, value, field))
    return undefined
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  const wrong = entries.filter(([, item]) => !each.accepts(item))
  problems.push(...wrong.map(([name, item]) => unreadable(`${path}["${name}"]`, item, each)))
  return Object.fromEntries(entries.filter((entry) => !wrong.includes(entry)))
}

function hintFor(name: string, { fields, path }: Place): string | undefined {
  const here = nearest(name, Object.keys(fields))
  const isNamed = (other: string) => other.split('.').at(-1)?.toLowerCase() === name.toLowerCase()
  return newName(`${path}${name}`) ?? didYouMean(here === undefined ? settingPaths().find(isNamed) : `${path}${here}`)
}

function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean ${name}?`
}

function newName(path: string): string | undefined {
  return Object.hasOwn(renamedSettings, path) ? `it was renamed to ${renamedSettings[path]}.` : undefined
}

/** `summary.handoverTokens` */
export function settingPaths(fields: Fields = settingsTable, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    'fields' in field ? settingPaths(field.fields, `${prefix}${name}.`) : [`${prefix}${name}`],
  )
}

/** `createEngine() has no option setings: did you mean settings?` */
export function unknownOptions(given: object, known: readonly string[]): readonly string[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const hint = newName(name) ?? didYouMean(nearest(name, known))
      return `createEngine() has no option ${name}${hintText(hint)}`
    })
}

/** The name with the fewest changed letters, if they are at most a third of it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((other) => ({ other, distance: distanceOf(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, distance }) => distance <= Math.max(name.length, other.length) / 3)
    .toSorted((a, b) => a.distance - b.distance)
  return best?.other
}

/** Number of letters to add, remove or replace. */
function distanceOf(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const now = [row]
    for (let at = 1; at <= b.length; at++) {
      const replaced = (before[at - 1] ?? 0) + (a[row - 1] === b[at - 1] ? 0 : 1)
      now.push(Math.min(replaced, (before[at] ?? 0) + 1, (now[at - 1] ?? 0) + 1))
    }
    before = now
  }
  return before[b.length] ?? 0
}
