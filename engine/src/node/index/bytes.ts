// An index as bytes, to be kept in a file or handed from thread to thread: a line of JSON, then column after column.
import { isObject, numberAt } from '../../core/message/json.ts'
import type { EntryTable } from '../../core/transcript/tree/entry-table.ts'
import { createIdTable } from '../../core/transcript/tree/id-table.ts'
import type { Indexed } from './scan.ts'

export function encodeIndexed({ table, bytes, lines }: Indexed): Buffer {
  const { rows, ids } = table
  const parts = [
    table.offsets.subarray(0, rows),
    table.lengths.subarray(0, rows),
    table.lines.subarray(0, rows),
    table.parents.subarray(0, rows),
    table.contextTokens.subarray(0, rows),
    ids.words(),
    table.nth.subarray(0, rows),
    table.types.subarray(0, rows),
  ].map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength))
  const lists = { others: [...ids.others], pending: [...table.pending], duplicates: table.duplicates }
  const header = { rows, bytes, lines, words: ids.words().length, ...lists }
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...parts])
}

/** Undefined when these are not the bytes of an index. */
export function decodeIndexed(bytes: Buffer): Indexed | undefined {
  const newline = bytes.indexOf(10)
  const header: unknown = JSON.parse(bytes.toString('utf8', 0, newline))
  return isObject(header) ? readColumns(header, bytes.subarray(newline + 1)) : undefined
}

type Lists = {
  readonly others: [string, number][]
  readonly pending: [number, string][]
  readonly duplicates: number[]
}

function readColumns(header: object, data: Buffer): Indexed | undefined {
  const rows = numberAt(header, 'rows') ?? 0
  const words = numberAt(header, 'words') ?? 0
  if (data.length !== rows * 26 + words * 4) return undefined
  // Copied, so that every column is aligned.
  const body = data.buffer.slice(data.byteOffset, data.byteOffset + data.length) as ArrayBuffer
  let at = 0
  const take = (length: number) => {
    at += length
    return at - length
  }
  const lists = header as Lists
  const table: EntryTable = {
    rows,
    offsets: new Float64Array(body, take(rows * 8), rows),
    lengths: new Uint32Array(body, take(rows * 4), rows),
    lines: new Uint32Array(body, take(rows * 4), rows),
    parents: new Int32Array(body, take(rows * 4), rows),
    contextTokens: new Uint32Array(body, take(rows * 4), rows),
    ids: createIdTable({
      saved: { words: new Uint32Array(body, take(words * 4), words), others: new Map(lists.others) },
    }),
    nth: new Uint8Array(body, take(rows), rows),
    types: new Uint8Array(body, take(rows), rows),
    pending: new Map(lists.pending),
    duplicates: lists.duplicates,
  }
  return { table, bytes: numberAt(header, 'bytes') ?? 0, lines: numberAt(header, 'lines') ?? 0 }
}
