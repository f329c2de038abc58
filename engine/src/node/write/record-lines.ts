// Serializes records, or explains why it cannot: a record that would read back differently is refused, never adjusted.
import { isObject, type JsonObject } from '../../core/message/json.ts'

export type UuidField = 'uuid' | 'parentUuid' | 'logicalParentUuid'

/** `index` is the record's position in the call; `message` says what is wrong and what to do. */
export type RecordProblem = { readonly index: number; readonly message: string } & (
  | { readonly type: 'record-not-json'; readonly where: string }
  | { readonly type: 'uuid-not-text'; readonly field: UuidField }
  | { readonly type: 'uuid-taken'; readonly uuid: string }
  | { readonly type: 'uuid-unknown'; readonly field: UuidField; readonly uuid: string }
)

export type LineRules = {
  readonly knows: (uuid: string) => boolean
  readonly foreignLogicalParents: boolean
}

export type RecordLines =
  | { readonly type: 'lines'; readonly text: string; readonly uuids: readonly string[] }
  | { readonly type: 'refused'; readonly problem: RecordProblem }

export function toLines(records: readonly unknown[], rules: LineRules): RecordLines {
  const uuids = new Set<string>()
  const knows = (uuid: string) => uuids.has(uuid) || rules.knows(uuid)
  const lines: string[] = []
  for (const [index, record] of records.entries()) {
    const line = toJson(record)
    const problem =
      typeof line === 'string' ? uuidProblem(record as JsonObject, { ...rules, knows, index }) : notJson(index, line)
    if (problem !== undefined) return { type: 'refused', problem }
    const { uuid } = record as JsonObject
    if (typeof uuid === 'string') uuids.add(uuid)
    lines.push(`${line}\n`)
  }
  return { type: 'lines', text: lines.join(''), uuids: [...uuids] }
}

function uuidProblem(record: JsonObject, rules: LineRules & { readonly index: number }): RecordProblem | undefined {
  const { index, knows } = rules
  for (const field of ['uuid', 'parentUuid', 'logicalParentUuid'] as const) {
    const value = record[field]
    if (value === undefined || (value === null && field !== 'uuid')) continue
    if (typeof value !== 'string') {
      const message = `Record ${index}: ${field} is not a string. Give a uuid, or null for a record without a parent.`
      return { type: 'uuid-not-text', index, field, message }
    }
    if (field === 'uuid') {
      if (!knows(value)) continue
      const message = `Record ${index}: the uuid ${value} is in the session already. Give each record a new one.`
      return { type: 'uuid-taken', index, uuid: value, message }
    }
    if (knows(value) || (field === 'logicalParentUuid' && rules.foreignLogicalParents)) continue
    const message = `Record ${index}: ${field} ${value} is not a record of this session. Write that record first; if it was in the file when it was opened, \`knows\` must return true for it.`
    return { type: 'uuid-unknown', index, field, uuid: value, message }
  }
  return undefined
}

type NotJson = { readonly where: string; readonly why: string }

function notJson(index: number, { where, why }: NotJson): RecordProblem {
  const message = `Record ${index}: ${where || 'it'} ${why} and would not read back the same. Use plain JSON values.`
  return { type: 'record-not-json', index, where, message }
}

function toJson(record: unknown): string | NotJson {
  if (!isObject(record)) return { where: '', why: 'is not an object' }
  try {
    return findNotJson(record, '', new Set()) ?? JSON.stringify(record)
  } catch (error) {
    // The stack limits the depth, as in JSON.parse.
    if (error instanceof RangeError) return { where: '', why: 'is nested too deeply or too long' }
    throw error
  }
}

/** The first value that JSON.stringify would refuse or change. Undefined fields are fine: they read back the same. */
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
