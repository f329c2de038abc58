// One record of a transcript with the place it came from, and its head: the few facts that the graph, the epochs
// and the live window are made of. Reading a head never fails; what is not there is undefined.
import { isObject, type JsonObject } from '../message/json.ts'
import { type Boundary, readBoundary } from './boundary.ts'

/**
 * Where a record lies: its line (counted from 1; 0 when the file was opened from its tail and nobody counted), the
 * line's bytes, and which record of that line it is.
 */
export type Position = {
  readonly line: number
  readonly offset: number
  readonly length: number
  readonly nth: number
}

export type Entry = {
  readonly record: JsonObject
  readonly position: Position
}

/** Gets every record of a file in order; returns the entries each one stands for. */
export type RecordReader = (record: JsonObject, position: Position) => readonly Entry[]

export type Head = Position & {
  readonly type: string
  readonly subtype: string | undefined
  /** Only tree entries have one; side entries annotate the session and hang nowhere. */
  readonly uuid: string | undefined
  readonly parent: string | null | undefined
  readonly sidechain: boolean
  /** Pieces of one answer share it. Assistant entries only. */
  readonly messageId: string | undefined
  readonly toolUses: readonly string[]
  readonly toolResults: readonly string[]
  readonly boundary: Boundary | undefined
}

const none: readonly string[] = []

export function headOf({ record, position }: Entry): Head {
  const type = typeof record.type === 'string' ? record.type : ''
  const boundary = type === 'system' || type === 'compact_system' ? readBoundary(record) : undefined
  const message = isObject(record.message) ? record.message : undefined
  const ids = message ? toolIds(message.content) : undefined
  return {
    line: position.line,
    offset: position.offset,
    length: position.length,
    nth: position.nth,
    type,
    subtype: typeof record.subtype === 'string' ? record.subtype : undefined,
    uuid: uuidOf(record, position, boundary !== undefined),
    parent: typeof record.parentUuid === 'string' || record.parentUuid === null ? record.parentUuid : undefined,
    sidechain: record.isSidechain === true,
    messageId: type === 'assistant' && typeof message?.id === 'string' ? message.id : undefined,
    toolUses: ids?.uses ?? none,
    toolResults: ids?.results ?? none,
    boundary,
  }
}

/** A boundary must be found in the graph, so the legacy kind, which may have no uuid, gets one from its place. */
function uuidOf(record: JsonObject, position: Position, isBoundary: boolean): string | undefined {
  if (typeof record.uuid === 'string') return record.uuid
  return isBoundary ? `boundary-at-byte-${position.offset}` : undefined
}

function toolIds(
  content: unknown,
): { readonly uses: readonly string[]; readonly results: readonly string[] } | undefined {
  if (!Array.isArray(content)) return undefined
  // Mostly there is one: lists of just that length, since every entry keeps its own.
  let uses: readonly string[] | undefined
  let results: readonly string[] | undefined
  for (const block of content) {
    if (!isObject(block)) continue
    if (block.type === 'tool_use' && typeof block.id === 'string') {
      uses = uses ? [...uses, block.id] : [block.id]
    } else if (block.type === 'tool_result' && typeof block.tool_use_id === 'string') {
      results = results ? [...results, block.tool_use_id] : [block.tool_use_id]
    }
  }
  return uses || results ? { uses: uses ?? none, results: results ?? none } : undefined
}

/** A line of the conversation itself, as opposed to what annotates it. */
export function isSpoken(head: Head): boolean {
  return head.type === 'user' || head.type === 'assistant'
}
