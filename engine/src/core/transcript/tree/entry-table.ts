// What is kept of every entry of a transcript without its content: position, id, type, parent, usage. In columns, one
// row for each entry, since a file may have hundreds of thousands.
import type { Head, Position } from '../format/entry.ts'

const treeTypes = ['user', 'assistant', 'system', 'attachment', 'progress', 'boundary'] as const
/** '' is a side entry, which is not part of the tree. 'boundary' is that of a compaction. */
export type EntryType = (typeof treeTypes)[number] | '' | 'other'

export const noParent = -1
/** The entry names a parent that is not in the table. */
export const missingParent = -2

export type IdRows = {
  readonly get: (uuid: string) => number | undefined
  readonly set: (uuid: string, row: number) => unknown
}

export type EntryTable<Ids = ReadonlyMap<string, number>> = {
  readonly rows: number
  readonly offsets: readonly number[]
  readonly lengths: readonly number[]
  /** The line of each, counted from 1; 0 when lines were not counted. */
  readonly lines: readonly number[]
  readonly nth: readonly number[]
  readonly types: readonly EntryType[]
  readonly sidechains: readonly boolean[]
  readonly parents: readonly number[]
  readonly contextTokens: readonly number[]
  /** Rows by uuid; of several entries with the same one, the first. */
  readonly ids: Ids
  /** By row: a parent that has not been seen. It may come later in the file, or never. */
  readonly pending: ReadonlyMap<number, string>
  readonly duplicates: readonly number[]
}

type Growing<T> = T extends ReadonlyMap<infer K, infer V> ? Map<K, V> : T extends readonly (infer Item)[] ? Item[] : T
type Columns = Omit<EntryTable, 'ids'>
export type GrowingTable<Ids = Map<string, number>> = {
  -readonly [K in keyof Columns]: Growing<Columns[K]>
} & { readonly ids: Ids }

export function createEntryTable<Ids extends IdRows>(ids: Ids): GrowingTable<Ids> {
  return {
    rows: 0,
    offsets: [],
    lengths: [],
    lines: [],
    nth: [],
    types: [],
    sidechains: [],
    parents: [],
    contextTokens: [],
    ids,
    pending: new Map(),
    duplicates: [],
  }
}

export type EntryPlace = Position & {
  readonly type: EntryType
  readonly sidechain: boolean
  readonly contextTokens: number
}

/** Adds a row without id and parent; returns its number. */
export function addPlace(table: GrowingTable<unknown>, place: EntryPlace): number {
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

export function addHead(table: GrowingTable<IdRows>, head: Head, contextTokens: number): number {
  const { offset, length, line, nth, uuid, parent, sidechain } = head
  const type = uuid === undefined ? '' : (treeTypes.find((known) => known === head.type) ?? 'other')
  const place = {
    offset,
    length,
    line,
    nth,
    type: head.boundary ? 'boundary' : type,
    sidechain,
    contextTokens,
  } as const
  const row = addPlace(table, place)
  if (uuid === undefined) return row
  if (table.ids.get(uuid) === undefined) table.ids.set(uuid, row)
  else table.duplicates.push(row)
  if (typeof parent !== 'string') return row
  const found = table.ids.get(parent)
  table.parents[row] = found ?? missingParent
  if (found === undefined) table.pending.set(row, parent)
  return row
}

/** Call it when everything has been added: finds the parents that came later than their children. */
export function resolvePending(table: GrowingTable<IdRows>): void {
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
