// The ancestry of an entry: the messages that led to it, back to the first one, across all compactions.
import { logicalParentAt, noParent, rowOf } from './entry-table.ts'
import { buildGraph } from './graph.ts'
import type { Scan } from './scan.ts'

/**
 * Rows, oldest first, with the entry itself last; empty if the file has no such entry. Each step goes to the logical parent if
 * that comes before the entry, else to the parent. A boundary without either goes to the entry before it. Kept messages
 * appear once, where they were first written.
 */
export function ancestryOf(
  { table, boundaries, rewinds }: Pick<Scan, 'table' | 'boundaries' | 'rewinds'>,
  uuid: string,
): readonly number[] {
  // The tree as if no compaction had happened.
  const out = new Set(boundaries.map(({ row }) => row))
  const { parents } = buildGraph(table, boundaries, { out, rewinds })
  const rows = new Set<number>()
  for (let row = rowOf(table, uuid); row >= 0 && !rows.has(row); ) {
    rows.add(row)
    const logical = logicalParentAt(table, row)
    row = logical >= 0 ? logical : (parents[row] ?? noParent)
  }
  return [...rows].reverse()
}
