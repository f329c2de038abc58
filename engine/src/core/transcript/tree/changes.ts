// Edits and compactions: which ones are in force, and what an undo or a rewind reverses. An undo of an undo restores the change.
// A rewind reverses all changes after the point that it returns to.
import { type JsonObject, objectAt, stringAt } from '../../message/json.ts'
import { readBoundary, readCompaction } from '../format/compaction-records.ts'
import { actionOf, type Edit, type EditPlace, editRecord, isUndoable, readEdit } from '../format/edits.ts'
import type { Entry, Head } from '../format/entry.ts'

/** An edit, or a compaction's boundary (which has no `edit`), by its row in the transcript. */
export type Change = {
  readonly row: number
  readonly uuid: string
  readonly edit: Edit | undefined
  /** Tokens, if the record has them. */
  readonly freed?: number | undefined
}

export function changeAt(row: number, record: JsonObject, head: Pick<Head, 'uuid' | 'boundary'>): Change | undefined {
  const { uuid, boundary } = head
  const edit = readEdit(record)
  if (uuid === undefined || !(edit || boundary)) return undefined
  return { row, uuid, edit, freed: edit ? edit.freed : readCompaction(record).freed }
}

export type ChangesInForce = {
  /** Rows of the changes that are not in force. */
  readonly out: ReadonlySet<number>
  /** Changes that a rewind removed. */
  readonly past: ReadonlySet<number>
  /** Rewinds in force: their row, and the row they return to. */
  readonly rewinds: ReadonlyMap<number, number>
}

export const nothingUndone: ChangesInForce = { out: new Set(), past: new Set(), rewinds: new Map() }

/** Newest first, because a change refers only to earlier ones. */
export function changesInForce(changes: readonly Change[], rowOf: (uuid: string) => number): ChangesInForce {
  const undone = new Set<number>()
  const past = new Set<number>()
  const out = new Set<number>()
  const rewinds = new Map<number, number>()
  let limit = Number.POSITIVE_INFINITY
  for (const { row, edit } of changes.toReversed()) {
    if (row > limit) past.add(row)
    if (row > limit || undone.has(row)) {
      out.add(row)
      continue
    }
    if (edit?.type === 'undo') {
      const target = rowOf(edit.uuid)
      if (target >= 0 && target < row) undone.add(target)
    } else if (edit?.type === 'rewind') {
      const target = rowOf(edit.to)
      if (target < 0 || target >= row) continue
      rewinds.set(row, target)
      limit = target
    }
  }
  return { out, past, rewinds }
}

function changesIn(entries: readonly Entry[]): ChangesInForce & { readonly changes: readonly Change[] } {
  const rows = new Map<string, number>()
  const changes = entries.flatMap(({ record }, row) => {
    const { uuid } = record
    if (typeof uuid !== 'string' || rows.has(uuid)) return []
    rows.set(uuid, row)
    return changeAt(row, record, { uuid, boundary: readBoundary(record) }) ?? []
  })
  return { changes, ...changesInForce(changes, (uuid) => rows.get(uuid) ?? -1) }
}

export type Undoable = {
  readonly uuid: string
  readonly type: Edit['type'] | 'compaction'
  readonly mechanism?: string
}

/** Unpinning reverses a pin, and `server-cleared` is only a report. */
const notUndoable: ReadonlySet<string | undefined> = new Set(['undo', 'pin', 'unpin', 'server-cleared'])

/** What an undo removes: the newest compaction in force, or all edits that were written together. Oldest first. */
export function lastAction(entries: readonly Entry[]): readonly Undoable[] {
  const { changes, out } = changesIn(entries)
  const isFinal = ({ row }: Change) => !isUndoable(entries[row]?.record ?? {})
  const standing = changes.filter(({ row }) => !out.has(row))
  // A final boundary hides everything before it: undoing an earlier change would not change the view.
  const from = standing.findLastIndex((change) => change.edit === undefined && isFinal(change)) + 1
  const inForce = standing.slice(from).filter((change) => !notUndoable.has(change.edit?.type) && !isFinal(change))
  const actionAt = (row: number | undefined) => actionOf(entries[row ?? -1]?.record ?? {})
  const newest = actionAt(inForce.at(-1)?.row)
  return inForce
    .filter(({ row }) => actionAt(row) === newest)
    .map(({ uuid, edit }) => ({
      uuid,
      type: edit?.type ?? 'compaction',
      ...(edit?.mechanism === undefined ? {} : { mechanism: edit.mechanism }),
    }))
}

/** True if a person undid the last compaction and no other followed. Clearing the context ends this too. */
export function isCompactionUndone(
  changes: readonly Change[],
  { out, recordAt }: Pick<ChangesInForce, 'out'> & { readonly recordAt: (row: number) => JsonObject | undefined },
): boolean {
  const undos = new Map(
    changes.flatMap(({ uuid, edit }) => (edit?.type === 'undo' ? [[edit.uuid, { uuid, edit }]] : [])),
  )
  for (const { row, uuid, edit } of changes.toReversed()) {
    if (edit) continue
    if (!out.has(row)) return false
    const undo = undos.get(uuid)
    const isByPerson = undo !== undefined && undo.edit.mechanism !== undoOfTornBy && !undos.has(undo.uuid)
    // Stays true after a rewind, because the person did not want the compaction.
    if (isByPerson && objectAt(recordAt(row), 'everlong')?.isCleared !== true) return true
  }
  return false
}

/** The entries that no rewind in force removed. `counts` selects among the records of the rewinds. */
export function withoutRewound(
  entries: readonly Entry[],
  counts: (rewind: JsonObject) => boolean = () => true,
): readonly Entry[] {
  const rewinds = [...changesIn(entries).rewinds].filter(([from]) => counts(entries[from]?.record ?? {}))
  return entries.filter((_, row) => !rewinds.some(([from, to]) => row > to && row < from))
}

/**
 * Whether the end of a transcript, which contains the whole live window, folds to the same view as the whole transcript. An
 * undo or a rewind may bring back earlier entries, and an edit of a range needs both ends of the range.
 */
export function isSelfContained(entries: readonly Entry[]): boolean {
  const known = new Set<unknown>(entries.map(({ record }) => record.uuid)).add(undefined)
  return entries.every(({ record }) => {
    const edit = readEdit(record)
    if (edit?.type === 'undo' || edit?.type === 'rewind') return false
    if (edit?.type === 'clear-thinking') return known.has(edit.after) && known.has(edit.before)
    return !edit || !('from' in edit) || (known.has(edit.from) && known.has(edit.to))
  })
}

/** The boundary of our newest compaction if its write was cut short, so that the last record it names is missing. */
export function tornCompaction(entries: readonly Entry[]): JsonObject | undefined {
  const boundary = entries.findLast(({ record }) => readBoundary(record) !== undefined)?.record
  const { last } = readCompaction(boundary)
  if (boundary === undefined || last === undefined) return undefined
  const isSettled = ({ record }: Entry) => {
    const edit = readEdit(record)
    return record.uuid === last || (edit?.type === 'undo' && edit.uuid === boundary.uuid)
  }
  return entries.findLast(isSettled) === undefined ? boundary : undefined
}

/** The mechanism in the undo of a torn compaction. */
const undoOfTornBy = 'open'

/** The entry that undoes a torn compaction. A writer appends it; a reader only folds it. */
export function undoOfTorn(
  entries: readonly Entry[],
  place: Partial<Pick<EditPlace, 'uuid' | 'timestamp'>> = {},
): Entry | undefined {
  const boundary = tornCompaction(entries)
  const tip = entries.findLast(({ record }) => typeof record.uuid === 'string')
  if (boundary === undefined || tip === undefined) return undefined
  const { isSidechain, userType, cwd, version, gitBranch, agentId } = boundary
  const edit: Edit = {
    type: 'undo',
    uuid: String(boundary.uuid),
    mechanism: undoOfTornBy,
    reason: 'its write was cut short',
  }
  const record = editRecord(edit, {
    uuid: `undo-of-${boundary.uuid}`,
    timestamp: stringAt(boundary, 'timestamp') ?? '',
    ...place,
    parentUuid: String(tip.record.uuid),
    sessionId: stringAt(boundary, 'sessionId') ?? '',
    envelope: { isSidechain, userType, cwd, version, gitBranch, agentId },
  })
  return { record, position: tip.position }
}
