// One record of a transcript with the place it came from, and its head: the few facts that the graph, the epochs
// and the live window are made of. Reading a head never fails; what is not there is undefined.
import { isObject, type JsonObject } from '../../message/json.ts'
import { type Boundary, readBoundary } from './boundary.ts'

/** Lines are counted from 1; 0 when the file was read from its tail. `nth` is the place among the records of a line. */
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

/** Takes each field once: records have so many shapes that reading one is what a head costs. */
export function headOf({ record, position }: Entry): Head {
  const { type: named, subtype, uuid, parentUuid: parent, message: said } = record
  const type = typeof named === 'string' ? named : ''
  const boundary = type === 'system' || type === 'compact_system' ? readBoundary(record) : undefined
  const message = isObject(said) ? said : undefined
  const messageId = type === 'assistant' ? message?.id : undefined
  const ids = message ? toolIds(message.content) : undefined
  return {
    line: position.line,
    offset: position.offset,
    length: position.length,
    nth: position.nth,
    type,
    subtype: typeof subtype === 'string' ? subtype : undefined,
    // A boundary must be found in the graph, so the legacy kind, which may have no uuid, gets one from its place.
    uuid: typeof uuid === 'string' ? uuid : boundary ? `boundary-at-byte-${position.offset}` : undefined,
    parent: typeof parent === 'string' || parent === null ? parent : undefined,
    sidechain: record.isSidechain === true,
    messageId: typeof messageId === 'string' ? messageId : undefined,
    toolUses: ids?.uses ?? none,
    toolResults: ids?.results ?? none,
    boundary,
  }
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
    const { type } = block
    const id = type === 'tool_use' ? block.id : type === 'tool_result' ? block.tool_use_id : undefined
    if (typeof id !== 'string') continue
    if (type === 'tool_use') uses = uses ? [...uses, id] : [id]
    else results = results ? [...results, id] : [id]
  }
  return uses || results ? { uses: uses ?? none, results: results ?? none } : undefined
}

export function isSpoken(head: Head): boolean {
  return head.type === 'user' || head.type === 'assistant'
}
