// The live window: the entries since the last compaction that the next request would be made of, in their order.
// Parallel tool calls leave results on side branches; they belong to it and are put beside their own answer.

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

type Linked = { readonly heads: readonly Head[]; readonly table: EntryTable; readonly graph: Graph }

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
  const boundaries: BoundaryAt[] = []
  for (const [row, head] of heads.entries()) {
    addHead(table, head, undefined)
    if (head.boundary) boundaries.push({ row, boundary: head.boundary, isLegacy: head.type === 'compact_system' })
  }
  resolvePending(table)
  return { heads, table, graph: buildGraph(table, boundaries) }
}

type Lines = Pick<Linked, 'heads' | 'table'>

/**
 * The newest line that can be a leaf. A file of a sub-agent has only sidechain lines: there they count. A line that
 * was written a second time does not: the first counts, and what followed it.
 */
export function newestLeaf({ heads, table }: Lines, isLeaf: (head: Head, row: number) => boolean): number {
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

/** The chain, or a stretch of it, with what belongs to its answers beside them; looks at the rows from `from` on. */
export function arrange(
  lines: Lines,
  { chain, from }: { readonly chain: readonly number[]; readonly from: number },
): readonly number[] {
  return insertBeside(lines.heads, chain, siblingsOf(lines, { chain, from }))
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

/** The other lines of every answer on the chain, and the results of its tool calls that hang on side branches. */
function siblingsOf(
  { heads, table }: Lines,
  { chain, from }: { readonly chain: readonly number[]; readonly from: number },
): readonly number[] {
  const onChain = new Set(chain)
  const duplicates = new Set(table.duplicates)
  const side = heads[chain.at(-1) ?? -1]?.sidechain ?? false
  const answers = new Set(chain.map((row) => heads[row]?.messageId).filter((id) => id !== undefined))
  const found: number[] = []
  const open = new Set<string>()
  const answered = new Set<string>()
  const isOther = (head: Head, row: number) =>
    head.uuid !== undefined && head.sidechain === side && !onChain.has(row) && !duplicates.has(row)
  for (let row = from; row < heads.length; row++) {
    const head = heads[row]
    if (!head) continue
    if (onChain.has(row)) for (const id of head.toolResults) answered.add(id)
    if (head.messageId === undefined || !answers.has(head.messageId) || head.sidechain !== side) continue
    for (const id of head.toolUses) open.add(id)
    if (isOther(head, row)) found.push(row)
  }
  for (let row = from; row < heads.length; row++) {
    const head = heads[row]
    if (!head || !isOther(head, row) || !head.toolResults.some((id) => open.has(id) && !answered.has(id))) continue
    for (const id of head.toolResults) answered.add(id)
    found.push(row)
  }
  return found.toSorted((a, b) => a - b)
}

/** Each sibling goes behind the last member of its own answer that stands before it in the file. */
function insertBeside(
  heads: readonly Head[],
  chain: readonly number[],
  siblings: readonly number[],
): readonly number[] {
  if (siblings.length === 0) return chain
  const answerOf = answerLookup(heads, [...chain, ...siblings])
  const members = new Map<string, number[]>(siblings.map((sibling) => [answerOf(sibling) ?? '', []]))
  for (const index of chain) members.get(answerOf(index) ?? '')?.push(index)
  const behind = new Map<number, number[]>()
  for (const sibling of siblings) {
    const own = members.get(answerOf(sibling) ?? '') ?? []
    const place = own.findLast((index) => index < sibling) ?? own[0] ?? chain.at(-1) ?? -1
    const others = behind.get(place)
    if (others) others.push(sibling)
    else behind.set(place, [sibling])
  }
  const order: number[] = []
  for (const index of chain) {
    order.push(index)
    const own = behind.get(index)
    if (own) order.push(...own)
  }
  return order
}

function answerLookup(heads: readonly Head[], indices: readonly number[]): (index: number) => string | undefined {
  const ofToolUse = new Map<string, string>()
  for (const index of indices) {
    const head = heads[index]
    if (head?.messageId !== undefined) for (const id of head.toolUses) ofToolUse.set(id, head.messageId)
  }
  return (index) => {
    const head = heads[index]
    return head?.messageId ?? head?.toolResults.map((id) => ofToolUse.get(id)).find((id) => id !== undefined)
  }
}
