// Parallel tool calls leave pieces of an answer and results on side branches, which a walk up from the newest entry
// misses. Here they are put back beside their answer. By plain loops: this runs for every view.
import type { Head } from '../format/entry.ts'
import { type EntryTable, isSidechainAt, typeAt } from './entry-table.ts'

type Tree = { readonly heads: readonly Head[]; readonly table: EntryTable }
type Chain = readonly number[]

/** The chain with the side branches of its answers. */
export function withSiblings(tree: Tree, chain: Chain): readonly number[] {
  const others = rowsBeside(tree, chain)
  const found = siblingsAmong(others, tree.heads, chain)
  return found.siblings.length === 0 ? chain : inserted(found, tree.heads, chain)
}

/** Rows of answers, and results, that are not on the chain. */
function rowsBeside({ heads, table }: Tree, chain: Chain): readonly number[] {
  const onChain = new Uint8Array(table.rows)
  for (const row of chain) onChain[row] = 1
  const side = isSidechainAt(table, chain.at(-1) ?? -1)
  const duplicates = new Set(table.duplicates)
  const others: number[] = []
  for (let row = 0; row < table.rows; row++) {
    if (onChain[row] === 1) continue
    const head = heads[row] as Head
    if (head.messageId === undefined && head.toolResults.length === 0) continue
    if (typeAt(table, row) !== '' && head.sidechain === side && !duplicates.has(row)) others.push(row)
  }
  return others
}

type Siblings = {
  readonly siblings: readonly number[]
  /** By tool use that has a result beside the chain: the answer that made it. */
  readonly answerOfCall: ReadonlyMap<string, string>
}

/** Further pieces of the chain's answers, and results that the chain lacks. */
function siblingsAmong(others: readonly number[], heads: readonly Head[], chain: Chain): Siblings {
  const beside = { answers: new Set<string>(), results: new Set<string>() }
  for (const row of others) {
    const { messageId, toolResults } = heads[row] as Head
    if (messageId !== undefined) beside.answers.add(messageId)
    for (const id of toolResults) beside.results.add(id)
  }
  const answers = new Set<string>()
  const answered = new Set<string>()
  const answerOfCall = new Map<string, string>()
  for (const row of others.length === 0 ? [] : chain) {
    const { messageId, toolUses, toolResults } = heads[row] as Head
    for (const id of toolResults) if (beside.results.has(id)) answered.add(id)
    if (messageId === undefined) continue
    if (beside.answers.has(messageId)) answers.add(messageId)
    for (const id of toolUses) if (beside.results.has(id)) answerOfCall.set(id, messageId)
  }
  const isPiece = (messageId: string | undefined) => messageId !== undefined && answers.has(messageId)
  for (const row of others) {
    const { messageId, toolUses } = heads[row] as Head
    if (messageId === undefined || !isPiece(messageId)) continue
    for (const id of toolUses) if (beside.results.has(id)) answerOfCall.set(id, messageId)
  }
  const siblings = others.filter((row) => {
    const { messageId, toolResults } = heads[row] as Head
    const missed = toolResults.filter((id) => answerOfCall.has(id) && !answered.has(id))
    // Of two results for one call the first counts.
    for (const id of missed) answered.add(id)
    return missed.length > 0 || isPiece(messageId)
  })
  return { siblings, answerOfCall }
}

/** Each sibling goes behind the last row of its own answer that comes before it in the file. */
function inserted({ siblings, answerOfCall }: Siblings, heads: readonly Head[], chain: Chain): readonly number[] {
  const answerOf = (row: number): string | undefined => {
    const { messageId, toolResults } = heads[row] as Head
    return messageId ?? answerOfCall.get(toolResults.find((id) => answerOfCall.has(id)) ?? '')
  }
  const members = membersOf(new Set(siblings.map(answerOf)), heads, { siblings, chain })
  const behind = new Map<number, number[]>()
  for (const row of siblings) {
    const own = members.get(answerOf(row)) ?? []
    const place = own.findLast((member) => member < row) ?? own[0] ?? chain.at(-1) ?? -1
    const there = behind.get(place)
    if (there) there.push(row)
    else behind.set(place, [row])
  }
  const order: number[] = []
  for (const row of chain) {
    order.push(row)
    const there = behind.get(row)
    if (there) order.push(...there)
  }
  return order
}

/** The rows on the chain that belong to each of these answers: its pieces, and the results of its calls. */
function membersOf(
  answers: ReadonlySet<string | undefined>,
  heads: readonly Head[],
  { siblings, chain }: { readonly siblings: readonly number[]; readonly chain: Chain },
): ReadonlyMap<string | undefined, readonly number[]> {
  const members = new Map<string | undefined, number[]>()
  const callers = new Map<string, string>()
  for (const answer of answers) members.set(answer, [])
  for (const row of siblings) noteCalls(callers, heads[row] as Head)
  for (const row of chain) {
    const head = heads[row] as Head
    const { messageId, toolResults } = head
    if (messageId === undefined) {
      const call = toolResults.find((id) => callers.has(id))
      if (call !== undefined) members.get(callers.get(call))?.push(row)
    } else if (answers.has(messageId)) {
      members.get(messageId)?.push(row)
      noteCalls(callers, head)
    }
  }
  return members
}

function noteCalls(callers: Map<string, string>, { messageId, toolUses }: Head): void {
  if (messageId !== undefined) for (const id of toolUses) callers.set(id, messageId)
}
