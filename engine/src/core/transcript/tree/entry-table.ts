// A table of all entries of a transcript without their content: position, id, type, parent, usage. It is stored in columns,
// because a file may have hundreds of thousands of entries.
import type { Head, Position } from '../format/entry.ts'

const treeTypes = ['user', 'assistant', 'system', 'attachment', 'progress', 'boundary'] as const
/** '' is a side entry, which is not part of the tree. 'boundary' is the boundary of a compaction. */
export type EntryType = (typeof treeTypes)[number] | '' | 'other'

export const noParent = -1
/** The entry names a parent that is not in the table. */
export const missingParent = -2

export type IdRows = {
  readonly get: (uuid: string) => number | undefined
  readonly set: (uuid: string, row: number) => unknown
}

export type EntryTable<Ids = Map<string, number>> = ReturnType<typeof createEntryTable<Ids>>

export function createEntryTable<Ids>(ids: Ids) {
  return {
    rows: 0,
    offsets: [] as number[],
    lengths: [] as number[],
    /** The line of each, counted from 1; 0 when lines were not counted. */
    lines: [] as number[],
    nth: [] as number[],
    types: [] as EntryType[],
    sidechains: [] as boolean[],
    parents: [] as number[],
    contextTokens: [] as number[],
    /** Rows by uuid; of several entries with the same one, the first. */
    ids,
    /** By row: a parent that was not seen yet. It may come later in the file, or never. */
    pending: new Map<number, string>(),
    /** By row: the entry that it continues across a compaction, if it names one. */
    logicalParents: new Map<number, string>(),
    duplicates: [] as number[],
  }
}

export type EntryPlace = Position & {
  readonly type: EntryType
  readonly sidechain: boolean
  readonly contextTokens: number
}

/** Adds a row without id and parent; returns its number. */
export function addPlace(table: EntryTable<unknown>, place: EntryPlace): number {
  table.offsets.push(place.offset)
  table.lengths.push(place.length)
  table.lines.push(place.line)
  table.nth.push(place.nth)
  table.types.push(place.type)
  table.sidechains.push(place.sidechain)
  table.contextTokens.push(place.contextTokens)
  table.parents.push(noParent)
  return table.rows++
}

export function addHead(table: EntryTable<IdRows>, head: Head, contextTokens: number): number {
  const { offset, length, line, nth, uuid, parent, logicalParent, sidechain } = head
  const known = treeTypes.find((known) => known === head.type) ?? 'other'
  const type = head.boundary ? 'boundary' : uuid === undefined ? '' : known
  const row = addPlace(table, { offset, length, line, nth, type, sidechain, contextTokens })
  if (uuid === undefined) return row
  if (table.ids.get(uuid) === undefined) table.ids.set(uuid, row)
  else table.duplicates.push(row)
  if (logicalParent !== undefined) table.logicalParents.set(row, logicalParent)
  if (typeof parent !== 'string') return row
  const found = table.ids.get(parent)
  table.parents[row] = found ?? missingParent
  if (found === undefined) table.pending.set(row, parent)
  return row
}

/** Call it when everything has been added: finds the parents that came later than their children. */
export function resolvePending(table: EntryTable<IdRows>): void {
  for (const [row, id] of table.pending) {
    const parent = table.ids.get(id)
    if (parent === undefined) continue
    table.parents[row] = parent
    table.pending.delete(row)
  }
}

export function rowOf({ ids }: { readonly ids: Pick<IdRows, 'get'> }, uuid: string | undefined): number {
  return (uuid === undefined ? undefined : ids.get(uuid)) ?? -1
}

/** The row of its logical parent; -1 if it names none, or one that is not before it. */
export function logicalParentAt({ ids, logicalParents }: EntryTable, row: number): number {
  const named = rowOf({ ids }, logicalParents.get(row))
  return named < row ? named : -1
}

export function typeAt({ types }: Pick<EntryTable, 'types'>, row: number): EntryType {
  return types[row] ?? ''
}

/** Whether it can be part of a request; other entries of a chain are skipped. */
export function isVisibleAt(table: EntryTable, row: number): boolean {
  const type = typeAt(table, row)
  return type === 'user' || type === 'assistant' || type === 'attachment'
}

export function isSidechainAt({ sidechains }: Pick<EntryTable, 'sidechains'>, row: number): boolean {
  return sidechains[row] ?? false
}
