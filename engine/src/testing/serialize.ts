// One record as the line that goes into a file. Never touches a disk.
import type { JsonObject } from '../core/message/json.ts'

/** The record on one line, newline included. */
export function serialize(record: JsonObject): string {
  return `${JSON.stringify(record)}\n`
}
