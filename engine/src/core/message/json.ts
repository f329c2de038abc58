// Reads JSON from outside, and writes JSON that reads back the same. Nothing throws, and no value is assumed to have the right
// type.

export type JsonObject = { readonly [key: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The kind of a value, for error messages: `null`, `an array`, `a number`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const maxDescribed = 300

/** Describes a value of the wrong shape in a few words. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean')
    return `${value}`
  if (typeof value === 'string') return JSON.stringify(value.slice(0, maxDescribed))
  if (value instanceof Promise) return 'a promise'
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}

/** Undefined if the text is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export function objectAt(value: unknown, key: string): JsonObject | undefined {
  const found = isObject(value) ? value[key] : undefined
  return isObject(found) ? found : undefined
}

export function stringAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'string' ? found : undefined
}

/** Returns the value only if it is a finite number. */
export function numberAt(value: unknown, key: string): number | undefined {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

export function arrayAt(value: unknown, key: string): readonly unknown[] {
  const found = isObject(value) ? value[key] : undefined
  return Array.isArray(found) ? found : []
}

export function stringsAt(value: unknown, key: string): readonly string[] {
  return arrayAt(value, key).filter((item) => typeof item === 'string')
}

type Defined<T> = {
  readonly [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key]
} & { readonly [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> }

/** Omits the keys whose value is undefined. */
export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}

/** Freezes the value and everything in it. */
export function deepFrozen<T>(value: T): T {
  if ((isObject(value) || Array.isArray(value)) && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const item of Object.values(value)) deepFrozen(item)
  }
  return value
}

export type NotJson = { readonly where: string; readonly why: string }

/** Returns the JSON of a record, or the place of a value that would not survive it. */
export function toJson(record: JsonObject): string | NotJson {
  try {
    return findNotJson(record, '', new Set()) ?? JSON.stringify(record)
  } catch (error) {
    // The stack limits the depth, as it does in JSON.parse.
    if (error instanceof RangeError) return { where: '', why: 'is nested too deeply or too long' }
    throw error
  }
}

/**
 * The first value that JSON.stringify would refuse, change or omit. Undefined fields are fine: they read back as
 * undefined.
 */
function findNotJson(value: unknown, where: string, above: Set<object>): NotJson | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { where, why: `is ${value}` }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value !== 'object') return { where, why: `is of type ${typeof value}` }
  if (above.has(value)) return { where, why: 'contains itself' }
  if (!Array.isArray(value) && !isPlain(value)) return { where, why: 'is not a plain object' }
  above.add(value)
  // Visits holes of an array too, because they would be written as null.
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const place = typeof key === 'number' ? `${where}[${key}]` : where === '' ? key : `${where}.${key}`
    const isLeftOut = item === undefined && typeof key === 'string'
    const found = isLeftOut ? undefined : findNotJson(item, place, above)
    if (found !== undefined) return found
  }
  above.delete(value)
  return undefined
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const maxProblemLength = 300

/** Returns one line, even if the thrown value is not an error. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : describeValue(error)
  return text.slice(0, maxProblemLength)
}
