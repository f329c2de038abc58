// The live window: the entries since the last compaction that the next request is made of, in their order, computed from the
// whole tree.
import { groupBy } from '../../message/maps.ts'
import { type Head, isPostCompact, isSpoken } from '../format/entry.ts'
import { type ChangesInForce, nothingUndone } from './changes.ts'
import {
  addHead,
  type BoundaryAt,
  buildGraph,
  createEntryTable,
  type EntryTable,
  type Graph,
  isSidechainAt,
  resolvePending,
  rowOf,
  typeAt,
} from './graph.ts'

/** The heads of a transcript in file order, and the tree they form. A row is an index into the heads. */
export type HeadTree = {
  readonly heads: Head[]
  readonly table: EntryTable
  readonly boundaries: BoundaryAt[]
}

export function createHeadTree(): HeadTree {
  return { heads: [], table: createEntryTable(new Map()), boundaries: [] }
}

export function addHeadToTree({ heads, table, boundaries }: HeadTree, head: Head): number {
  const row = addHead(table, head, 0)
  heads.push(head)
  const isCopy = table.duplicates.at(-1) === row
  if (head.boundary && !isCopy)
    boundaries.push({ row, boundary: head.boundary, isLegacy: head.type === 'compact_system' })
  return row
}

export type LiveOrder = {
  /** The rows of the live window, oldest first: boundary, summary, kept messages, what followed. */
  readonly order: readonly number[]
  readonly graph: Graph
  /** The row of the newest message, unless kept messages come after it. */
  readonly leaf: number | undefined
}

export function liveOrder(
  tree: HeadTree,
  isLeaf: (row: number) => boolean,
  standing: ChangesInForce = nothingUndone,
): LiveOrder {
  const { table, boundaries } = tree
  resolvePending(table)
  const graph = buildGraph(table, boundaries, standing)
  const newest = newestLeaf(table, isLeaf)
  if (newest < 0) return { order: [], graph, leaf: undefined }
  // Nothing follows this compaction yet, but its kept messages come after its summary.
  const leaf = graph.keptTails.get(newest) ?? newest
  const isEnd = (row: number) => typeAt(table, row) === 'boundary' && !standing.out.has(row)
  const order = withSiblings(tree, walkUp(graph, leaf, isEnd))
  return { order, graph, leaf: leaf === newest ? leaf : undefined }
}

export type LiveWindow = {
  /** Indices into the heads, oldest first: boundary, summary, kept messages, what followed. */
  readonly order: readonly number[]
  /** The end of the walk from the newest message. `continued`: a root that names the entry it continues. */
  readonly stop: 'boundary' | 'root' | 'continued' | 'orphan' | 'empty'
  /** Uuids that the window refers to and that are not among the heads: parents on the walk, kept messages. */
  readonly missing: readonly string[]
}

export function liveWindow(heads: readonly Head[]): LiveWindow {
  const tree = createHeadTree()
  for (const head of heads) addHeadToTree(tree, head)
  const { order, graph } = liveOrder(tree, (row) => isSpoken(heads[row] as Head))
  const first = heads[order[0] ?? -1]
  if (!first) return { order, stop: 'empty', missing: [] }
  return { order, stop: stopAt(first), missing: missingFrom(tree, order, graph) }
}

function stopAt(first: Head): LiveWindow['stop'] {
  if (first.boundary) return 'boundary'
  if (isPostCompact(first)) return 'continued'
  return typeof first.parent === 'string' ? 'orphan' : 'root'
}

/** Sidechain rows count only in a file without other rows, which is a sub-agent's. If a line was written twice, the first counts. */
function newestLeaf(table: EntryTable, isLeaf: (row: number) => boolean): number {
  const duplicates = new Set(table.duplicates)
  let side = -1
  for (let row = table.rows - 1; row >= 0; row--) {
    if (typeAt(table, row) === '' || !isLeaf(row) || duplicates.has(row)) continue
    if (!isSidechainAt(table, row)) return row
    if (side < 0) side = row
  }
  return side
}

function walkUp({ parents }: Graph, leaf: number, isEnd: (row: number) => boolean): readonly number[] {
  const chain: number[] = []
  for (let row = leaf; row >= 0; row = isEnd(row) ? -1 : (parents[row] ?? -1)) chain.push(row)
  return chain.reverse()
}

function missingFrom({ heads, table }: HeadTree, order: readonly number[], graph: Graph): readonly string[] {
  const missing: string[] = []
  for (const row of order) {
    const parent = table.pending.get(row)
    if (parent !== undefined) missing.push(parent)
    const kept = heads[row]?.boundary?.kept
    if (kept?.type === 'listed') missing.push(...kept.uuids.filter((uuid) => rowOf(table, uuid) < 0))
    if (kept?.type === 'segment' && !graph.kept.get(row)?.length) missing.push(kept.head, kept.tail)
  }
  return missing
}

/** Adds parts of answers and results of parallel calls, which are on side branches that the walk misses. */
function withSiblings({ heads, table }: HeadTree, chain: readonly number[]): readonly number[] {
  const headAt = (row: number) => heads[row] as Head
  const others = rowsBeside(heads, table, chain)
  if (others.length === 0) return chain
  const answers = new Set<string | undefined>()
  const answered = new Set<string>()
  const answerOfCall = new Map<string, string>()
  const noteCalls = ({ messageId = '', toolUses }: Head) => {
    for (const id of toolUses) answerOfCall.set(id, messageId)
  }
  for (const row of chain) {
    const head = headAt(row)
    if (head.messageId !== undefined) answers.add(head.messageId)
    for (const id of head.toolResults) answered.add(id)
    noteCalls(head)
  }
  const isPiece = (row: number) => answers.has(headAt(row).messageId)
  for (const row of others) if (isPiece(row)) noteCalls(headAt(row))
  const siblings = others.filter((row) => {
    const missed = headAt(row).toolResults.filter((id) => answerOfCall.has(id) && !answered.has(id))
    // If a call has two results, the first counts.
    for (const id of missed) answered.add(id)
    return missed.length > 0 || isPiece(row)
  })
  if (siblings.length === 0) return chain
  // Each goes after the last earlier row of its own answer (a part of it, or a result).
  const answerOf = (row: number) => {
    const { messageId, toolResults } = headAt(row)
    return messageId ?? answerOfCall.get(toolResults.find((id) => answerOfCall.has(id)) ?? '')
  }
  const own = new Set(siblings.map(answerOf))
  const members = groupBy(
    chain.filter((row) => own.has(answerOf(row))),
    answerOf,
  )
  const following = groupBy(siblings, (row) => {
    const rows = members.get(answerOf(row)) ?? []
    return rows.findLast((member) => member < row) ?? rows[0] ?? chain.at(-1)
  })
  return chain.flatMap((row) => [row, ...(following.get(row) ?? [])])
}

/** Rows outside the chain that may belong to one of its answers. */
function rowsBeside(heads: readonly Head[], table: EntryTable, chain: readonly number[]): readonly number[] {
  const isSkipped = new Uint8Array(heads.length)
  for (const row of chain) isSkipped[row] = 1
  for (const row of table.duplicates) isSkipped[row] = 1
  const isSide = isSidechainAt(table, chain.at(-1) ?? -1)
  const others: number[] = []
  for (const [row, { messageId, toolResults, sidechain, uuid }] of heads.entries()) {
    const isPart = messageId !== undefined || toolResults.length > 0
    if (isPart && uuid !== undefined && sidechain === isSide && isSkipped[row] === 0) others.push(row)
  }
  return others
}
