// From records to the lines of a session, or the reason why not. Nothing that would read back as something else passes:
// it neither mends a record nor leaves a part of it out.
import { isObject, type JsonObject } from '../../core/message/json.ts'

export type UuidField = 'uuid' | 'parentUuid' | 'logicalParentUuid'

/** `index` is the record's place among those given; `message` says what is wrong and what to do. */
export type RecordProblem = { readonly index: number; readonly message: string } & (
  | { readonly type: 'record-not-json'; readonly where: string }
  | { readonly type: 'uuid-not-text'; readonly field: UuidField }
  | { readonly type: 'uuid-taken'; readonly uuid: string }
  | { readonly type: 'uuid-unknown'; readonly field: UuidField; readonly uuid: string }
)

export type LineRules = {
  /** Whether a record with this uuid is in the session already. */
  readonly knows: (uuid: string) => boolean
  /** Whether a `logicalParentUuid` may lie in another file. */
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
    const line = isObject(record) ? toJson(record) : { where: '', why: 'is not an object' }
    if (typeof line !== 'string' || !isObject(record)) return refused(notJson(index, line))
    const problem = uuidProblem(record, { ...rules, knows, index })
    if (problem !== undefined) return refused(problem)
    if (typeof record.uuid === 'string') uuids.add(record.uuid)
    lines.push(line, '\n')
  }
  return { type: 'lines', text: lines.join(''), uuids: [...uuids] }
}

function refused(problem: RecordProblem): RecordLines {
  return { type: 'refused', problem }
}

function uuidProblem(record: JsonObject, rules: LineRules & { readonly index: number }): RecordProblem | undefined {
  const { index, knows } = rules
  for (const field of ['uuid', 'parentUuid', 'logicalParentUuid'] as const) {
    const value = record[field]
    if (value === undefined || (value === null && field !== 'uuid')) continue
    if (typeof value !== 'string') {
      const message = `Record ${index}: ${field} is not text. Give a uuid, or null or nothing for a parent that is not there.`
      return { type: 'uuid-not-text', index, field, message }
    }
    if (field === 'uuid') {
      if (!knows(value)) continue
      const message = `Record ${index}: the uuid ${value} is in the session already. Give each record its own.`
      return { type: 'uuid-taken', index, uuid: value, message }
    }
    if (knows(value) || (field === 'logicalParentUuid' && rules.foreignLogicalParents)) continue
    const message = `Record ${index}: ${field} ${value} is no record of this session. Write that record first; if it stood in the file before it was opened, let \`knows\` say so.`
    return { type: 'uuid-unknown', index, field, uuid: value, message }
  }
  return undefined
}

type NotJson = { readonly where: string; readonly why: string }

function notJson(index: number, found: NotJson | string): RecordProblem {
  const { where, why } = typeof found === 'string' ? { where: '', why: 'is not an object' } : found
  const what = where === '' ? 'it' : where
  const message = `Record ${index}: ${what} ${why}, and would not read back the same. Give plain JSON.`
  return { type: 'record-not-json', index, where, message }
}

function toJson(record: JsonObject): string | NotJson {
  try {
    return findNotJson(record, '', new Set()) ?? JSON.stringify(record)
  } catch (error) {
    // The stack is what limits the depth, here as in JSON.parse.
    if (error instanceof RangeError) return { where: '', why: 'is nested too deep or too long' }
    throw error
  }
}

/**
 * The first thing that JSON.stringify would refuse, change or leave out. A field that is undefined may be left out: it
 * reads back as undefined.
 */
function findNotJson(value: unknown, where: string, above: Set<object>): NotJson | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { where, why: `is ${value}` }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value !== 'object') return { where, why: `is of type ${typeof value}` }
  if (above.has(value)) return { where, why: 'holds itself' }
  above.add(value)
  const found = Array.isArray(value) ? findInArray(value, where, above) : findInObject(value, where, above)
  above.delete(value)
  return found
}

function findInArray(items: readonly unknown[], where: string, above: Set<object>): NotJson | undefined {
  // By number, since the holes of an array would be written as null.
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
