// The last compaction of a rollout, read from the end of the file: the agent waits for this, and a rollout may hold many
// megabytes of tool results.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { arrayAt, isObject, type JsonObject, objectAt, stringAt, textOf } from 'everlong/internal'

/** Quotation marks inside texts are escaped, so this occurs only as the type of a record. */
export const compactedMark = '"type":"compacted","payload"'
export const itemMark = '"type":"response_item"'

export type LastCompaction = {
  /** Start of its line. */
  readonly start: number
  /** The summary, and messages that were kept verbatim with it. */
  readonly shown: readonly string[]
  /** False for summaries that a server wrote and encrypted. */
  readonly isReadable: boolean
}

/** Usually holds the compaction and the few records after it. */
const firstRead = 1 << 20

/** Undefined if there was none. */
export function lastCompaction(rollout: string): LastCompaction | undefined {
  const file = openSync(rollout, 'r')
  try {
    const { size } = fstatSync(file)
    for (let length = firstRead; ; length *= 4) {
      const from = Math.max(0, size - length)
      const bytes = readRange(file, from, size)
      const at = bytes.lastIndexOf(compactedMark)
      const start = lineStart(bytes, at)
      if (at >= 0 && (start > 0 || from === 0)) return { start: from + start, ...read(lineAt(bytes, start)) }
      if (from === 0) return undefined
    }
  } finally {
    closeSync(file)
  }
}

/** The bytes between two offsets, or fewer if the file is shorter. */
export function readRange(file: number, from: number, to: number): Buffer {
  const buffer = Buffer.alloc(to - from)
  let done = 0
  for (let count = -1; count !== 0 && done < buffer.length; done += count)
    count = readSync(file, buffer, done, buffer.length - done, from + done)
  return buffer.subarray(0, done)
}

export function lineStart(bytes: Buffer, at: number): number {
  return at <= 0 ? 0 : bytes.lastIndexOf('\n', at - 1) + 1
}

export function lineAt(bytes: Buffer, start: number): string {
  const end = bytes.indexOf('\n', start)
  return bytes.toString('utf8', start, end < 0 ? bytes.length : end)
}

/** Undefined for the rest of a line that was cut off. */
export function recordIn(line: string): JsonObject | undefined {
  try {
    const record: unknown = JSON.parse(line)
    return isObject(record) ? record : undefined
  } catch {
    return undefined
  }
}

const introduction = /^Another language model started to solve this problem[^\n]*\n/

function read(line: string): Pick<LastCompaction, 'shown' | 'isReadable'> {
  const compaction = objectAt(recordIn(line), 'payload')
  const summary = (stringAt(compaction, 'message') ?? '').replace(introduction, '')
  const history = arrayAt(compaction, 'replacement_history')
  const texts = history.flatMap((item) =>
    isObject(item) ? arrayAt(item, 'content').map((part) => stringAt(part, 'text') ?? textOf([part])) : [],
  )
  return {
    shown: [summary, ...texts.filter((text) => !introduction.test(text))],
    isReadable: !history.some((item) => stringAt(item, 'type') === 'compaction'),
  }
}
