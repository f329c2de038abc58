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
export function arrange(lines: Lines, stretch: Stretch): readonly number[] {
  return insertBeside(lines.heads, stretch.chain, siblingsOf(lines, stretch))
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

type Stretch = { readonly chain: readonly number[]; readonly from: number }

/**
 * The other lines of every answer on the chain, and the results of its tool calls that hang on side branches. Most
 * lines are on the chain: only the ids of the few that are not are gathered.
 */
function siblingsOf(lines: Lines, { chain, from }: Stretch): readonly number[] {
  const { heads } = lines
  const others = rowsBeside(lines, { chain, from })
  if (others.length === 0) return others
  const ids = new Set(others.map((row) => heads[row]?.messageId))
  ids.delete(undefined)
  const results = new Set(others.flatMap((row) => heads[row]?.toolResults ?? []))
  const answers = new Set<string | undefined>()
  const open = new Set<string>()
  const closed: string[] = []
  const openUses = ({ toolUses }: Head) => {
    for (const id of toolUses) if (results.has(id)) open.add(id)
  }
  eachHead(heads, chain, (head) => {
    if (head.toolResults.length > 0) for (const id of head.toolResults) if (results.has(id)) closed.push(id)
    if (head.messageId === undefined) return
    if (ids.has(head.messageId)) answers.add(head.messageId)
    if (head.toolUses.length > 0) openUses(head)
  })
  const pieces = others.filter((row) => answers.has(heads[row]?.messageId))
  eachHead(heads, pieces, openUses)
  for (const id of closed) open.delete(id)
  const found = [...pieces]
  for (const row of others) {
    const own = heads[row]?.toolResults ?? []
    if (!own.some((id) => open.has(id))) continue
    for (const id of own) open.delete(id)
    found.push(row)
  }
  return [...new Set(found)].sort((a, b) => a - b)
}

/** By index: a long session has many rows, and these loops run once, before anybody has optimised them. */
function eachHead(heads: readonly Head[], rows: readonly number[], visit: (head: Head, row: number) => unknown): void {
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? -1
    const head = heads[row]
    if (head) visit(head, row)
  }
}

/** Lines of answers, and results, that are not on the chain. */
function rowsBeside({ heads, table }: Lines, { chain, from }: Stretch): readonly number[] {
  const onChain = new Uint8Array(heads.length - from)
  for (let at = 0; at < chain.length; at++) onChain[(chain[at] ?? from) - from] = 1
  const side = heads[chain.at(-1) ?? -1]?.sidechain ?? false
  const duplicates = new Set(table.duplicates)
  const others: number[] = []
  for (let row = from; row < heads.length; row++) {
    if (onChain[row - from] === 1) continue
    const head = heads[row]
    if (head?.uuid === undefined || head.sidechain !== side) continue
    if (head.messageId === undefined && head.toolResults.length === 0) continue
    if (!duplicates.has(row)) others.push(row)
  }
  return others
}

/** Each sibling goes behind the last member of its own answer that stands before it in the file. */
function insertBeside(
  heads: readonly Head[],
  chain: readonly number[],
  siblings: readonly number[],
): readonly number[] {
  if (siblings.length === 0) return chain
  const { answerOf, related } = answerLookup(heads, { chain, siblings })
  const members = new Map<string, number[]>(siblings.map((sibling) => [answerOf(sibling) ?? '', []]))
  for (const row of related) members.get(answerOf(row) ?? '')?.push(row)
  const behind = new Map<number, number[]>()
  for (const sibling of siblings) {
    const own = members.get(answerOf(sibling) ?? '') ?? []
    const place = own.findLast((index) => index < sibling) ?? own[0] ?? chain.at(-1) ?? -1
    const others = behind.get(place)
    if (others) others.push(sibling)
    else behind.set(place, [sibling])
  }
  const order: number[] = []
  for (let at = 0; at < chain.length; at++) {
    const row = chain[at] ?? -1
    order.push(row)
    const own = behind.get(row)
    if (own) order.push(...own)
  }
  return order
}

type AnswerLookup = {
  /** The answer a row is a piece of, or a result for; of results only those of the siblings' answers are known. */
  readonly answerOf: (row: number) => string | undefined
  /** Of the chain, in its order: the pieces of the siblings' answers, and whatever may be a result for one of them. */
  readonly related: readonly number[]
}

function answerLookup(
  heads: readonly Head[],
  { chain, siblings }: { readonly chain: readonly number[]; readonly siblings: readonly number[] },
): AnswerLookup {
  const wanted = new Set(siblings.flatMap((row) => heads[row]?.toolResults ?? []))
  const answers = new Set(siblings.map((row) => heads[row]?.messageId))
  const findAnswer = ({ messageId, toolUses }: Head) => {
    if (toolUses.length > 0 && toolUses.some((id) => wanted.has(id))) answers.add(messageId)
  }
  eachHead(heads, chain, findAnswer)
  eachHead(heads, siblings, findAnswer)
  const ofToolUse = new Map<string, string>()
  const related: number[] = []
  const relate = ({ messageId, toolUses, toolResults }: Head, row: number): void => {
    if (messageId === undefined ? toolResults.length > 0 : answers.has(messageId)) related.push(row)
    if (toolUses.length === 0 || messageId === undefined || !answers.has(messageId)) return
    for (const id of toolUses) ofToolUse.set(id, messageId)
  }
  eachHead(heads, chain, relate)
  const onChain = related.length
  eachHead(heads, siblings, relate)
  related.length = onChain
  const answerOf = (row: number) => {
    const head = heads[row]
    if (head?.messageId !== undefined) return head.messageId
    for (const id of head?.toolResults ?? []) {
      const answer = ofToolUse.get(id)
      if (answer !== undefined) return answer
    }
    return undefined
  }
  return { answerOf, related }
}
