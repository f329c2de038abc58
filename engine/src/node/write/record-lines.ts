// Serializes records, or explains why it cannot: a record that would read back differently is refused, never adjusted.
import { isObject, type JsonObject, toJson } from '../../core/message/json.ts'

export type LineRules = {
  readonly knows: (uuid: string) => boolean
  /** Takes uuids and parents as they are, for a copy of a session that others wrote. */
  readonly isCopy?: boolean | undefined
}

export type RecordLines =
  | { readonly type: 'lines'; readonly text: string; readonly uuids: readonly string[] }
  | RecordRefused

/** Says which record it is, what is wrong with it and what to do. */
export type RecordRefused = { readonly type: 'refused'; readonly message: string }

export function toLines(records: readonly unknown[], { knows, isCopy }: LineRules): RecordLines {
  const uuids = new Set<string>()
  const lines: string[] = []
  for (const [index, record] of records.entries()) {
    const refused = (why: string): RecordRefused => ({ type: 'refused', message: `Record ${index}: ${why}` })
    if (!isObject(record))
      return refused('it is not an object and would not read back the same. Use plain JSON values.')
    const line = toJson(record)
    if (typeof line !== 'string') {
      return refused(`${line.where || 'it'} ${line.why} and would not read back the same. Use plain JSON values.`)
    }
    const problem = isCopy ? undefined : uuidProblem(record, (uuid) => uuids.has(uuid) || knows(uuid))
    if (problem !== undefined) return refused(problem)
    if (typeof record.uuid === 'string') uuids.add(record.uuid)
    lines.push(line, '\n')
  }
  return { type: 'lines', text: lines.join(''), uuids: [...uuids] }
}

function uuidProblem(record: JsonObject, knows: (uuid: string) => boolean): string | undefined {
  for (const field of ['uuid', 'parentUuid', 'logicalParentUuid'] as const) {
    const value = record[field]
    if (value === undefined || (value === null && field !== 'uuid')) continue
    if (typeof value !== 'string')
      return `${field} is not a string. Give a uuid, or null for a record without a parent.`
    if (field === 'uuid' && knows(value))
      return `the uuid ${value} is in the session already. Give each record a new one.`
    if (field !== 'uuid' && !knows(value)) {
      return `${field} ${value} is not a record of this session. Write that record first; if it was in the file when it was opened, \`knows\` must return true for it.`
    }
  }
  return undefined
}
