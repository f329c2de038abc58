// A table of all entries of a transcript without their content, and the tree that they form, repaired: kept messages moved
// after their summary, orphans attached, rings cut. The table is stored in columns, because a file may have hundreds of
// thousands of entries.

import type { Boundary, Kept } from '../format/compaction-records.ts'
import type { Head, Position } from '../format/entry.ts'
import { type ChangesInForce, nothingUndone } from './changes.ts'

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
    /** Rows by uuid. If several entries share one, the first counts. */
    ids,
    /** By row: a parent that was not seen yet. It may follow later in the file or be missing. */
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

/** Call it after the last entry: finds parents that come later than their children. */
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

/** Whether a request can contain the entry. Other entries of a chain are skipped. */
export function isVisibleAt(table: EntryTable, row: number): boolean {
  const type = typeAt(table, row)
  return type === 'user' || type === 'assistant' || type === 'attachment'
}

export function isSidechainAt({ sidechains }: Pick<EntryTable, 'sidechains'>, row: number): boolean {
  return sidechains[row] ?? false
}

export type BoundaryAt = { readonly row: number; readonly boundary: Boundary; readonly isLegacy: boolean }

export type Graph = {
  readonly parents: readonly number[]
  /** Entries whose parent is not in the file. Normal after a compaction. */
  readonly orphans: readonly number[]
  readonly cuts: readonly number[]
  /** By boundary: the messages it kept, in order, without those that were never written to disk. */
  readonly kept: ReadonlyMap<number, readonly number[]>
  /** By summary: the last kept message after it. */
  readonly keptTails: ReadonlyMap<number, number>
}

type Links = { readonly table: EntryTable; readonly parents: number[] }

export function buildGraph(
  table: EntryTable,
  boundaries: readonly BoundaryAt[],
  { out, rewinds }: Pick<ChangesInForce, 'out' | 'rewinds'> = nothingUndone,
): Graph {
  const links = { table, parents: table.parents.slice() }
  const orphans = attachOrphans(links)
  const inForce = boundaries.filter(({ row }) => !out.has(row))
  for (const { row, isLegacy } of inForce) if (isLegacy) relinkLegacy(links, row)
  for (const { row } of boundaries) if (out.has(row)) bridge(links, row)
  for (const [row, to] of rewinds) links.parents[row] = to
  const { moved, ...spliced } = spliceKept(links, inForce)
  return { parents: links.parents, orphans, cuts: cutRings(links.parents, moved), ...spliced }
}

/** An undone boundary is an ordinary entry: its parent is the entry before it. */
function bridge({ table, parents }: Links, row: number): void {
  let before = logicalParentAt(table, row)
  if (before < 0) {
    const copies = new Set(table.duplicates)
    const isSide = isSidechainAt(table, row)
    const isPassed = (at: number) => typeAt(table, at) === '' || isSidechainAt(table, at) !== isSide || copies.has(at)
    before = row - 1
    while (before >= 0 && isPassed(before)) before--
  }
  parents[row] = before
}

/**
 * A missing parent is replaced by the nearest earlier tree entry of the same side (main or sub-agent), if any. A copy
 * of an old line does not count: its children would move to before the last boundary.
 */
function attachOrphans({ table, parents }: Links): readonly number[] {
  const orphans: number[] = []
  const copies = new Set(table.duplicates)
  const last = { main: noParent, side: noParent }
  for (let row = 0; row < table.rows; row++) {
    if (typeAt(table, row) === '') continue
    const side = isSidechainAt(table, row) ? 'side' : 'main'
    if (parents[row] === missingParent) {
      orphans.push(row)
      parents[row] = last[side]
    }
    if (!copies.has(row)) last[side] = row
  }
  return orphans
}

/**
 * The legacy record is not linked into the chain. These move after it: later entries whose parents come before it, later
 * roots that continue an earlier entry, and the first message after it if that is a root.
 */
function relinkLegacy({ table, parents }: Links, boundary: number): void {
  parents[boundary] = noParent
  let isFirst = true
  for (let row = boundary + 1; row < table.rows; row++) {
    if (isSidechainAt(table, row) || typeAt(table, row) === 'boundary') continue
    const isRoot = parents[row] === noParent
    const before = isRoot ? logicalParentAt(table, row) : (parents[row] ?? noParent)
    const isMessage = isVisibleAt(table, row)
    if ((before >= 0 && before < boundary) || (isRoot && isMessage && isFirst)) parents[row] = boundary
    if (isMessage) isFirst = false
  }
}

/**
 * Moves the kept messages of each boundary after its anchor (the summary), and the children of the anchor after the last of
 * them, whatever layout they were written in. `moved` has the rows whose parent was set here.
 */
function spliceKept(links: Links, boundaries: readonly BoundaryAt[]) {
  const { table, parents } = links
  const splices = boundaries.flatMap(({ row, boundary: { kept } }) => {
    if (!kept) return []
    const anchor = kept.type === 'counted' ? row : rowOf(table, kept.anchor)
    return anchor < 0 ? [] : [{ row, anchor, kept: keptRows(links, row, kept) }]
  })
  const children = new Map<number, number[]>(splices.map(({ anchor }) => [anchor, []]))
  if (splices.length > 0) for (const [row, parent] of parents.entries()) children.get(parent)?.push(row)
  const keptTails = new Map<number, number>()
  const moved = new Set<number>()
  const move = (row: number, parent: number) => {
    parents[row] = parent
    moved.add(row)
  }
  for (const { anchor, kept } of splices) {
    const last = kept.at(-1)
    if (last === undefined) continue
    keptTails.set(anchor, last)
    for (const child of children.get(anchor) ?? []) if (parents[child] === anchor) move(child, last)
    for (const [at, row] of kept.entries()) move(row, kept[at - 1] ?? anchor)
  }
  return { kept: new Map(splices.map(({ row, kept }) => [row, kept])), keptTails, moved }
}

function keptRows({ table, parents }: Links, boundary: number, kept: Kept): readonly number[] {
  switch (kept.type) {
    case 'listed': {
      const anchor = rowOf(table, kept.anchor)
      const rows = kept.uuids.map((uuid) => rowOf(table, uuid)).filter((row) => row >= 0 && row !== anchor)
      return [...new Set(rows)]
    }
    case 'segment': {
      const head = rowOf(table, kept.head)
      const chain = new Set<number>()
      for (let row = rowOf(table, kept.tail); row >= 0 && !chain.has(row); row = parents[row] ?? noParent) {
        chain.add(row)
        if (row === head) return [...chain].reverse()
      }
      return [] // The first and the last message are not on one chain, so the kept messages are unknown.
    }
    case 'counted': {
      const found: number[] = []
      for (let row = boundary - 1; row >= 0 && found.length < kept.count; row--) {
        const type = typeAt(table, row)
        if (type === 'boundary') break
        if ((type === 'user' || type === 'assistant') && !isSidechainAt(table, row)) found.push(row)
      }
      return found.reverse()
    }
  }
}

/**
 * Cuts rings so that every chain ends. The cut is where the file is most likely wrong: at a link from the file (not one
 * moved here) that names a later entry as parent; else at any link from the file.
 */
function cutRings(parents: number[], moved: ReadonlySet<number>): readonly number[] {
  const cuts: number[] = []
  const walk = new Int32Array(parents.length).fill(-1)
  for (let start = 0; start < parents.length; start++) {
    let row = start
    while (row >= 0 && walk[row] === -1) {
      walk[row] = start
      row = parents[row] ?? noParent
    }
    if (row < 0 || walk[row] !== start) continue
    const ring = [row]
    for (let next = parents[row] ?? row; next !== row; next = parents[next] ?? row) ring.push(next)
    const own = ring.filter((member) => !moved.has(member))
    const cut = own.find((member) => (parents[member] ?? noParent) > member) ?? own[0] ?? row
    parents[cut] = noParent
    cuts.push(cut)
  }
  return cuts
}
