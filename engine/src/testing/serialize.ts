// Serializes a record to a line.
import type { JsonObject } from '../core/message/json.ts'

export function serialize(record: JsonObject): string {
  return `${JSON.stringify(record)}\n`
}
