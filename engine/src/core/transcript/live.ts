// The live window: the entries since the last compaction that the next request would be made of, in their order.
// Parallel tool calls leave results on side branches; they belong to it and are put beside their own answer.
import { type Head, isSpoken } from './entry.ts'
import type { Graph } from './graph.ts'

export type LiveWindow = {
  /** Indices into the graph's heads, oldest first: boundary, summary, kept messages, what followed. */
  readonly order: readonly number[]
  /** Where the walk from the newest message ended. */
  readonly stop: 'boundary' | 'root' | 'orphan' | 'empty'
  /** How many entries were not on the walk but belong to its answers. */
  readonly recovered: number
}

export function liveWindow(graph: Graph): LiveWindow {
  const leaf = newestSpoken(graph.heads)
  if (leaf < 0) return { order: [], stop: 'empty', recovered: 0 }
  const { chain, stop } = walkUp(graph, leaf)
  const siblings = siblingsOf(graph, chain)
  return { order: insertBeside(graph.heads, chain, siblings), stop, recovered: siblings.length }
}

/** The newest line of the conversation. A file of a sub-agent has only sidechain lines: there they count. */
export function newestSpoken(heads: readonly Head[]): number {
  const main = heads.findLastIndex((head) => head.uuid !== undefined && !head.sidechain && isSpoken(head))
  return main >= 0 ? main : heads.findLastIndex((head) => head.uuid !== undefined && isSpoken(head))
}

function walkUp(graph: Graph, leaf: number): { readonly chain: readonly number[]; readonly stop: LiveWindow['stop'] } {
  const chain: number[] = []
  let index = leaf
  for (;;) {
    chain.push(index)
    const head = graph.heads[index]
    if (head?.boundary) return { chain: chain.reverse(), stop: 'boundary' }
    const parent = graph.parents[index] ?? -1
    if (parent < 0) return { chain: chain.reverse(), stop: typeof head?.parent === 'string' ? 'orphan' : 'root' }
    index = parent
  }
}

/** The other lines of every answer on the chain, and the results of its tool calls that hang on side branches. */
function siblingsOf({ heads, byUuid }: Graph, chain: readonly number[]): readonly number[] {
  const onChain = new Set(chain)
  const side = heads[chain.at(-1) ?? -1]?.sidechain ?? false
  const answers = new Set<string>()
  for (const index of chain) {
    const id = heads[index]?.messageId
    if (id !== undefined) answers.add(id)
  }
  const isFirst = (head: Head, index: number) => head.uuid !== undefined && byUuid.get(head.uuid) === index
  const found: number[] = []
  const open = new Set<string>()
  const answered = new Set<string>()
  for (const [index, head] of heads.entries()) {
    const belongs = head.messageId !== undefined && answers.has(head.messageId) && head.sidechain === side
    if (onChain.has(index)) for (const id of head.toolResults) answered.add(id)
    else if (belongs && isFirst(head, index)) found.push(index)
    if (belongs) for (const id of head.toolUses) open.add(id)
  }
  for (const [index, head] of heads.entries()) {
    if (head.toolResults.length === 0 || onChain.has(index) || head.sidechain !== side || !isFirst(head, index))
      continue
    if (!head.toolResults.some((id) => open.has(id) && !answered.has(id))) continue
    for (const id of head.toolResults) answered.add(id)
    found.push(index)
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
  const members = new Map<string, number[]>()
  for (const index of chain) {
    const answer = answerOf(index)
    if (answer !== undefined) members.set(answer, [...(members.get(answer) ?? []), index])
  }
  const behind = new Map<number, number[]>()
  for (const sibling of siblings) {
    const own = members.get(answerOf(sibling) ?? '') ?? []
    const place = own.findLast((index) => index < sibling) ?? own[0] ?? chain.at(-1) ?? -1
    behind.set(place, [...(behind.get(place) ?? []), sibling])
  }
  return chain.flatMap((index) => [index, ...(behind.get(index) ?? [])])
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
