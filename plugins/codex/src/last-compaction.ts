// The last compaction of a rollout and the conversation before it. Of earlier epochs only the user's words are parsed:
// a hook has to answer at once, and a rollout may hold many megabytes of tool results.
import { readFileSync } from 'node:fs'
import { arrayAt, isObject, type JsonObject, objectAt, stringAt, textOf } from 'everlong/transcript'
import type { Compaction } from '../../shared/lost.ts'

/** Inside of texts the quotation marks are escaped, so these stand only where a record says what it is. */
const compactedMark = '"type":"compacted","payload"'
const itemMark = '"type":"response_item"'
const userMark = '"role":"user"'

export type CodexCompaction = Compaction & {
  /** False for summaries that a server wrote and encrypted. */
  readonly isReadable: boolean
}

export function lastCompaction(rollout: string): CodexCompaction | undefined {
  const bytes = readFileSync(rollout)
  const last = bytes.lastIndexOf(compactedMark)
  if (last < 0) return undefined
  const end = lineStart(bytes, last)
  const before = end === 0 ? -1 : bytes.lastIndexOf(compactedMark, end - 1)
  const start = before < 0 ? 0 : lineStart(bytes, before)
  const earlier = start === 0 ? [] : [lineAt(bytes, 0), ...userLines(bytes, start)]
  const epoch = bytes.toString('utf8', start, end).split('\n')
  const compaction = objectAt(recordIn(lineAt(bytes, end)), 'payload')
  return {
    records: [...earlier, ...epoch].map(recordIn).filter((record) => record !== undefined),
    path: rollout,
    shown: shownIn(compaction),
    isReadable: !arrayAt(compaction, 'replacement_history').some((item) => stringAt(item, 'type') === 'compaction'),
  }
}

function lineStart(bytes: Buffer, at: number): number {
  return at <= 0 ? 0 : bytes.lastIndexOf('\n', at - 1) + 1
}

function lineAt(bytes: Buffer, start: number): string {
  const end = bytes.indexOf('\n', start)
  return bytes.toString('utf8', start, end < 0 ? bytes.length : end)
}

function userLines(bytes: Buffer, to: number): readonly string[] {
  const lines: string[] = []
  for (let at = bytes.indexOf(userMark); at >= 0 && at < to; ) {
    const start = lineStart(bytes, at)
    const line = lineAt(bytes, start)
    // A compaction repeats what the user said.
    if (line.slice(0, 200).includes(itemMark)) lines.push(line)
    at = bytes.indexOf(userMark, start + Buffer.byteLength(line))
  }
  return lines
}

/** Undefined for the rest of a line that was cut off. */
function recordIn(line: string): JsonObject | undefined {
  try {
    const record: unknown = JSON.parse(line)
    return isObject(record) ? record : undefined
  } catch {
    return undefined
  }
}

const introduction = /^Another language model started to solve this problem[^\n]*\n/

/** The summary and all messages of the new history. */
function shownIn(compaction: JsonObject | undefined): readonly string[] {
  const summary = (stringAt(compaction, 'message') ?? '').replace(introduction, '')
  const texts = arrayAt(compaction, 'replacement_history').flatMap((item) =>
    isObject(item) ? arrayAt(item, 'content').map((part) => stringAt(part, 'text') ?? textOf([part])) : [],
  )
  return [summary, ...texts.filter((text) => !introduction.test(text))]
}
