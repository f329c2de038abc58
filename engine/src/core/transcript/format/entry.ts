// A record of a transcript with its position in the file, and its head: the few fields that the graph, the epochs and the
// live window need. Reading a head never fails; missing fields are undefined.
import { isObject, type JsonObject, stringAt } from '../../message/json.ts'
import { type Boundary, readBoundary } from './compaction-records.ts'

/** Lines are counted from 1; 0 if the file was read from its end. `nth` counts the records of one line. */
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

/** Called with every record of a file in order; returns the entries that it becomes. */
export type RecordReader = (record: JsonObject, position: Position) => readonly Entry[]

export type Head = Position & {
  readonly type: string
  readonly subtype: string | undefined
  /** Only tree entries have one. Side entries annotate the session and have no parent. */
  readonly uuid: string | undefined
  readonly parent: string | null | undefined
  /** The entry that this one continues across a compaction, by the client's account. It may be missing, later or elsewhere. */
  readonly logicalParent: string | undefined
  readonly sidechain: boolean
  /** Shared by all entries of one answer. Assistant entries only. */
  readonly messageId: string | undefined
  readonly toolUses: readonly string[]
  readonly toolResults: readonly string[]
  readonly boundary: Boundary | undefined
}

export function readHead({ record, position }: Entry): Head {
  const { type: named, subtype, uuid, parentUuid: parent, message: said } = record
  const type = typeof named === 'string' ? named : ''
  const boundary = type === 'system' || type === 'compact_system' ? readBoundary(record) : undefined
  // A boundary must be found in the graph, so the legacy kind, which may have no uuid, gets one from its position.
  const unnamed = boundary && `boundary-at-byte-${position.offset}`
  // Legacy records also announce that a compaction starts and that it was restored. They are not part of the tree.
  const isAnnouncement = type === 'compact_system' && !boundary
  const message = isObject(said) ? said : undefined
  const messageId = type === 'assistant' ? message?.id : undefined
  const { uses: toolUses, results: toolResults } = toolIds(message?.content)
  return {
    line: position.line,
    offset: position.offset,
    length: position.length,
    nth: position.nth,
    type,
    subtype: typeof subtype === 'string' ? subtype : undefined,
    uuid: isAnnouncement ? undefined : typeof uuid === 'string' ? uuid : unnamed,
    parent: typeof parent === 'string' || parent === null ? parent : undefined,
    logicalParent: stringAt(record, 'logicalParentUuid'),
    sidechain: record.isSidechain === true,
    messageId: typeof messageId === 'string' ? messageId : undefined,
    toolUses,
    toolResults,
    boundary,
  }
}

function toolIds(content: unknown) {
  const [uses, results]: [string[], string[]] = [[], []]
  for (const block of Array.isArray(content) ? content : []) {
    if (!isObject(block)) continue
    if (block.type === 'tool_use' && typeof block.id === 'string') uses.push(block.id)
    if (block.type === 'tool_result' && typeof block.tool_use_id === 'string') results.push(block.tool_use_id)
  }
  return { uses, results }
}

/** Whether the client started a new tree here and named the entry that it continues, as it does after a compaction. */
export function isPostCompact({ parent, logicalParent }: Pick<Head, 'parent' | 'logicalParent'>): boolean {
  return typeof parent !== 'string' && logicalParent !== undefined
}

export function isSpoken(head: Head): boolean {
  return head.type === 'user' || head.type === 'assistant'
}
