// The live window: the entries since the last compaction that the next request would be made of, in their order.
import { AnswerNumbers } from './answer-numbers.ts'
import { arrange, type Lines } from './arrange.ts'
import { type Head, isSpoken } from './entry.ts'
import { addHead, createEntryTable, type EntryTable, resolvePending } from './entry-table.ts'
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

type Linked = Lines & { readonly table: EntryTable; readonly graph: Graph }

export function liveWindow(heads: readonly Head[]): LiveWindow {
  const linked = link(heads)
  const leaf = newestLeaf(linked, isSpoken)
  if (leaf < 0) return { order: [], stop: 'empty', recovered: 0, missing: [] }
  const { chain, stop } = walkUp(linked, { leaf, isEnd: (head) => head.boundary !== undefined })
  const order = arrange(linked, { chain, from: 0 })
  return { order, stop, recovered: order.length - chain.length, missing: missingFrom(linked, order) }
}

function link(heads: readonly Head[]): Linked {
  const table = createEntryTable()
  const numbers = new AnswerNumbers()
  const boundaries: BoundaryAt[] = []
  for (const [row, head] of heads.entries()) {
    addHead(table, head, undefined)
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
export function newestLeaf(
  { heads, table }: Omit<Lines, 'numbers'>,
  isLeaf: (head: Head, row: number) => boolean,
): number {
  const duplicates = new Set(table.duplicates)
  const isFirst = (head: Head, row: number) => head.uuid !== undefined && isLeaf(head, row) && !duplicates.has(row)
  const main = heads.findLastIndex((head, row) => !head.sidechain && isFirst(head, row))
  return main >= 0 ? main : heads.findLastIndex(isFirst)
}

/** From a leaf up to where the window begins: a boundary that ends it, or a root. */
export function walkUp(
  { heads, graph }: Pick<Linked, 'heads' | 'graph'>,
  from: { readonly leaf: number; readonly isEnd: (head: Head, row: number) => boolean },
): { readonly chain: readonly number[]; readonly stop: LiveWindow['stop'] } {
  const chain: number[] = []
  let row = from.leaf
  for (;;) {
    chain.push(row)
    const head = heads[row]
    if (head && from.isEnd(head, row)) return { chain: chain.reverse(), stop: 'boundary' }
    const parent = graph.parents[row] ?? -1
    if (parent < 0) return { chain: chain.reverse(), stop: typeof head?.parent === 'string' ? 'orphan' : 'root' }
    row = parent
  }
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
