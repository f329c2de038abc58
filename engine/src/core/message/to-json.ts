// Serializes records, or says what in them JSON cannot carry. It never adjusts a value.
import type { JsonObject } from './json.ts'

export type NotJson = { readonly where: string; readonly why: string }

/** The text of a record, or where it would read back differently. */
export function toJson(record: JsonObject): string | NotJson {
  try {
    return findNotJson(record, '', new Set()) ?? JSON.stringify(record)
  } catch (error) {
    // The stack limits the depth, as in JSON.parse.
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
  above.add(value)
  const found = Array.isArray(value) ? findInArray(value, where, above) : findInObject(value, where, above)
  above.delete(value)
  return found
}

function findInArray(items: readonly unknown[], where: string, above: Set<object>): NotJson | undefined {
  // By index: holes would be written as null.
  for (let at = 0; at < items.length; at++) {
    const found = findNotJson(items[at], `${where}[${at}]`, above)
    if (found !== undefined) return found
  }
  return undefined
}

function findInObject(value: object, where: string, above: Set<object>): NotJson | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return { where, why: 'is not a plain object' }
  for (const [key, item] of Object.entries(value)) {
    const found = item === undefined ? undefined : findNotJson(item, where === '' ? key : `${where}.${key}`, above)
    if (found !== undefined) return found
  }
  return undefined
}
