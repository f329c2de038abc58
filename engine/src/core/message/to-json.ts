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
  if (!Array.isArray(value) && !isPlain(value)) return { where, why: 'is not a plain object' }
  above.add(value)
  // Holes of an array are listed too: they would be written as null.
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
