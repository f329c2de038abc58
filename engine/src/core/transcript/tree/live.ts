// The live window: the entries since the last compaction that the next request would be made of, in their order.

import { type Head, isSpoken } from '../format/entry.ts'
import { AnswerNumbers } from './answer-numbers.ts'
import { arrange, type Lines } from './arrange.ts'
import { addToTree, createTree, isSidechainAt, resolvePending, type TreeTable, typeAt } from './entry-table.ts'
import { type BoundaryAt, buildGraph, type Graph } from './graph.ts'

export type LiveWindow = {
  /** Indices into the heads, oldest first: boundary, summary, kept messages, what followed. */
  readonly order: readonly number[]
  /** Where the walk from the newest message ended. */
  readonly stop: 'boundary' | 'root' | 'orphan' | 'empty'
  /** How many entries were not on the walk but belong to its answers. */
  readonly recovered: number
  /** Uuids that the window refers to and that are not among the heads: parents on the walk, kept messages. */
  readonly missing: readonly string[]
}

type Linked = Lines & { readonly heads: readonly Head[]; readonly graph: Graph }

export function liveWindow(heads: readonly Head[]): LiveWindow {
  const linked = link(heads)
  const isSpokenAt = (row: number) => isSpoken(heads[row] as Head)
  const leaf = newestLeaf(linked.table, isSpokenAt)
  if (leaf < 0) return { order: [], stop: 'empty', recovered: 0, missing: [] }
  const chain = walkUp(linked.graph, leaf, (row) => heads[row]?.boundary !== undefined)
  const order = arrange(linked, { chain, from: 0 })
  const stop = stopAt(heads[chain[0] ?? leaf])
  return { order, stop, recovered: order.length - chain.length, missing: missingFrom(linked, order) }
}

function stopAt(first: Head | undefined): LiveWindow['stop'] {
  if (first?.boundary) return 'boundary'
  return typeof first?.parent === 'string' ? 'orphan' : 'root'
}

function link(heads: readonly Head[]): Linked {
  const table = createTree()
  const numbers = new AnswerNumbers()
  const boundaries: BoundaryAt[] = []
  for (const [row, head] of heads.entries()) {
    addToTree(table, head)
    numbers.add(head)
    if (head.boundary) boundaries.push({ row, boundary: head.boundary, isLegacy: head.type === 'compact_system' })
  }
  resolvePending(table)
  return { heads, table, numbers, graph: buildGraph(table, boundaries) }
}

/**
 * The newest line that can be a leaf. A file of a sub-agent has only sidechain lines: there they count. A line that
 * was written a second time does not: the first counts, and what followed it.
 */
export function newestLeaf(table: TreeTable, isLeaf: (row: number) => boolean): number {
  const duplicates = new Set(table.duplicates)
  let side = -1
  for (let row = table.rows - 1; row >= 0; row--) {
    if (typeAt(table, row) === '' || !isLeaf(row) || duplicates.has(row)) continue
    if (!isSidechainAt(table, row)) return row
    if (side < 0) side = row
  }
  return side
}

/** From a leaf up to where the window begins: a row that ends it, or a root. Oldest first. */
export function walkUp({ parents }: Graph, leaf: number, isEnd: (row: number) => boolean): readonly number[] {
  const chain: number[] = []
  for (let row = leaf; row >= 0; row = isEnd(row) ? -1 : (parents[row] ?? -1)) chain.push(row)
  return chain.reverse()
}

function missingFrom({ heads, table, graph }: Linked, order: readonly number[]): readonly string[] {
  const missing: string[] = []
  for (const row of order) {
    const parent = table.pending.get(row)
    if (parent !== undefined) missing.push(parent)
    const kept = heads[row]?.boundary?.kept
    if (kept?.type === 'listed') missing.push(...kept.uuids.filter((uuid) => table.ids.findId(uuid) < 0))
    if (kept?.type === 'segment' && !graph.kept.get(row)?.length) missing.push(kept.head, kept.tail)
  }
  return missing
}
