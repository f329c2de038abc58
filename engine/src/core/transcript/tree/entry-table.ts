// What is kept of every entry of a transcript without its content: position, ids, type, usage. Stored in columns at about
// fifty bytes an entry, so that a file of any size fits in memory.
import { contextTokens, type Usage } from '../../message/usage.ts'
import type { Head } from '../format/entry.ts'
import { createIdMap, createIdTable, type IdRows, type IdTable } from './id-table.ts'

export const entryTypes = ['', 'user', 'assistant', 'system', 'attachment', 'progress', 'boundary', 'other'] as const
/** '' is a side entry, which is not part of the tree. 'boundary' is that of a compaction. */
export type EntryType = (typeof entryTypes)[number]

/** The code of a side entry's type. */
export const sideEntry = entryTypes.indexOf('')
const sideFlag = 128
const otherCode = entryTypes.indexOf('other')

export const noParent = -1
/** The entry names a parent that has not been seen yet. */
export const missingParent = -2

/** The columns that the tree needs. */
export type TreeTable = {
  readonly rows: number
  /** Index into entryTypes; 128 is added for a sidechain. */
  readonly types: Uint8Array
  readonly parents: Int32Array
  readonly ids: IdRows
  /** By row: a parent that has not been seen. It may come later in the file, or never. */
  readonly pending: ReadonlyMap<number, string>
  /** Entries that carry an id seen before. */
  readonly duplicates: readonly number[]
}

export type EntryTable = TreeTable & {
  readonly offsets: Float64Array
  readonly lengths: Uint32Array
  /** The line of each, counted from 1; 0 when lines were not counted. */
  readonly lines: Uint32Array
  /** Which record of its line. */
  readonly nth: Uint8Array
  readonly contextTokens: Uint32Array
  readonly ids: IdTable
}

type Growing<T extends TreeTable> = { -readonly [K in keyof T]: T[K] } & {
  readonly pending: Map<number, string>
  readonly duplicates: number[]
}
export type GrowingTree = Growing<TreeTable>
export type GrowingTable = Growing<EntryTable>

/** For entries that are held anyway: it keeps no copy of their ids. */
export function createTree(): GrowingTree {
  return { ...treeColumns(1024), rows: 0, ids: createIdMap(), pending: new Map(), duplicates: [] }
}

/** Starts from a saved table, or empty. `expected` is the number of rows to make room for. */
export function createEntryTable(from: { readonly saved?: EntryTable; readonly expected?: number } = {}): GrowingTable {
  const { saved, expected = 1024 } = from
  if (saved) return { ...saved, pending: new Map(saved.pending), duplicates: [...saved.duplicates] }
  const columns = { ...treeColumns(expected), ...placeColumns(expected) }
  return { ...columns, rows: 0, ids: createIdTable({ expected }), pending: new Map(), duplicates: [] }
}

export type Place = { readonly offset: number; readonly length: number; readonly line: number; readonly nth: number }

/** Adds an empty row, a side entry at this place; returns its number. */
export function addPlace(table: GrowingTable, place: Place): number {
  const row = table.rows++
  if (row >= table.offsets.length) grow(table)
  table.offsets[row] = place.offset
  table.lengths[row] = place.length
  table.lines[row] = place.line
  table.nth[row] = place.nth
  table.parents[row] = noParent
  return row
}

export function addHead(table: GrowingTable, head: Head, usage: Usage | undefined): number {
  const row = addPlace(table, head)
  table.contextTokens[row] = usage ? contextTokens(usage) : 0
  hang(table, row, head)
  return row
}

/** Adds an entry to the tree; returns its row. */
export function addToTree(tree: GrowingTree, head: Head): number {
  const row = tree.rows++
  if (row >= tree.types.length) growTree(tree, tree.types.length * 2)
  tree.parents[row] = noParent
  hang(tree, row, head)
  return row
}

function hang(tree: GrowingTree, row: number, head: Head): void {
  const type = head.boundary ? 'boundary' : head.uuid === undefined ? '' : head.type
  setType(tree, row, { code: typeCode(type), sidechain: head.sidechain })
  if (head.uuid === undefined) return
  if (!tree.ids.addId(head.uuid, row)) tree.duplicates.push(row)
  if (typeof head.parent === 'string') {
    const parent = tree.ids.findId(head.parent)
    tree.parents[row] = parent < 0 ? missingParent : parent
    if (parent < 0) tree.pending.set(row, head.parent)
  }
}

/** Call it when everything has been added: finds the parents that came later than their children. */
export function resolvePending(table: GrowingTree): void {
  for (const [row, id] of table.pending) {
    const parent = table.ids.findId(id)
    if (parent < 0) continue
    table.parents[row] = parent
    table.pending.delete(row)
  }
}

export function typeCode(type: string): number {
  for (let code = 0; code < otherCode; code++) if (entryTypes[code] === type) return code
  return otherCode
}

export function setType(
  table: GrowingTree,
  row: number,
  type: { readonly code: number; readonly sidechain: boolean },
): void {
  table.types[row] = type.sidechain ? type.code + sideFlag : type.code
}

export function typeAt(table: TreeTable, row: number): EntryType {
  return entryTypes[(table.types[row] ?? 0) & (sideFlag - 1)] ?? 'other'
}

/** Whether it can be part of a request; other entries of a chain are skipped. */
export function isVisibleAt(table: TreeTable, row: number): boolean {
  const type = typeAt(table, row)
  return type === 'user' || type === 'assistant' || type === 'attachment'
}

export function isSidechainAt(table: TreeTable, row: number): boolean {
  return (table.types[row] ?? 0) >= sideFlag
}

type TreeColumns = Pick<GrowingTree, 'types' | 'parents'>
type PlaceColumns = Pick<GrowingTable, 'offsets' | 'lengths' | 'lines' | 'nth' | 'contextTokens'>

function treeColumns(capacity: number): TreeColumns {
  return { types: new Uint8Array(capacity), parents: new Int32Array(capacity) }
}

function placeColumns(capacity: number): PlaceColumns {
  return {
    offsets: new Float64Array(capacity),
    lengths: new Uint32Array(capacity),
    lines: new Uint32Array(capacity),
    nth: new Uint8Array(capacity),
    contextTokens: new Uint32Array(capacity),
  }
}

function growTree(tree: GrowingTree, capacity: number): void {
  const larger = treeColumns(capacity)
  larger.types.set(tree.types)
  larger.parents.set(tree.parents)
  Object.assign(tree, larger)
}

function grow(table: GrowingTable): void {
  const capacity = Math.max(1024, table.offsets.length * 2)
  const larger = placeColumns(capacity)
  larger.offsets.set(table.offsets)
  larger.lengths.set(table.lengths)
  larger.lines.set(table.lines)
  larger.nth.set(table.nth)
  larger.contextTokens.set(table.contextTokens)
  Object.assign(table, larger)
  growTree(table, capacity)
}
