// Serializes records, or explains why it cannot: a record that would read back differently is refused, never adjusted.
import { isObject, type JsonObject } from '../../core/message/json.ts'
import { type NotJson, toJson } from '../../core/message/to-json.ts'

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
  /** Takes uuids and parents as they are, for a copy of a session that others wrote. */
  readonly isCopy?: boolean
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
    if (typeof line !== 'string' || !isObject(record)) return { type: 'refused', problem: notJson(index, line) }
    const problem = rules.isCopy ? undefined : uuidProblem(record, { ...rules, knows, index })
    if (problem !== undefined) return { type: 'refused', problem }
    if (typeof record.uuid === 'string') uuids.add(record.uuid)
    lines.push(line, '\n')
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

function notJson(index: number, found: NotJson | string): RecordProblem {
  const { where, why } = typeof found === 'string' ? { where: '', why: 'is not an object' } : found
  const what = where === '' ? 'it' : where
  const message = `Record ${index}: ${what} ${why} and would not read back the same. Use plain JSON values.`
  return { type: 'record-not-json', index, where, message }
}
