// The chain of a conversation with what belongs to its answers put beside them: parallel tool calls leave pieces and
// results on side branches, and a bare walk from the newest message loses them.
import { type AnswerNumbers, unnamed } from './answer-numbers.ts'
import { isSidechainAt, type TreeTable, typeAt } from './entry-table.ts'

export type Lines = { readonly table: TreeTable; readonly numbers: AnswerNumbers }

/** Rows of the chain, or of its end; rows before `from` are not looked at. */
export type Stretch = { readonly chain: readonly number[]; readonly from: number }

export function arrange(lines: Lines, stretch: Stretch): readonly number[] {
  const siblings = siblingsOf(lines.numbers, stretch.chain, rowsBeside(lines, stretch))
  return siblings.length === 0 ? stretch.chain : insertBeside(lines.numbers, stretch.chain, siblings)
}

/** Lines of answers, and results, that are not on the chain. */
function rowsBeside({ table, numbers }: Lines, { chain, from }: Stretch): readonly number[] {
  const onChain = new Uint8Array(table.rows - from)
  for (let at = 0; at < chain.length; at++) onChain[(chain[at] ?? from) - from] = 1
  const side = isSidechainAt(table, chain.at(-1) ?? -1)
  const duplicates = new Set(table.duplicates)
  const others: number[] = []
  for (let row = from; row < table.rows; row++) {
    if (onChain[row - from] === 1 || (numbers.answerAt(row) < 0 && !numbers.results.hasAny(row))) continue
    const isInTree = typeAt(table, row) !== '' && isSidechainAt(table, row) === side
    if (isInTree && !duplicates.has(row)) others.push(row)
  }
  return others
}

/** Of these rows the further pieces of every answer on the chain, and the results of its calls that the chain lacks. */
function siblingsOf(numbers: AnswerNumbers, chain: readonly number[], others: readonly number[]): readonly number[] {
  if (others.length === 0) return others
  const { calls, results } = numbers
  const answers = new Set<number>()
  const open = new Set<number>()
  for (const row of chain) {
    const answer = numbers.answerAt(row)
    if (answer === unnamed) continue
    answers.add(answer)
    calls.addTo(open, row)
  }
  const isPiece = (row: number) => answers.has(numbers.answerAt(row))
  for (const row of others) if (isPiece(row)) calls.addTo(open, row)
  for (const row of chain) results.takeFrom(open, row)
  return others.filter((row) => {
    // Of two results for one call the first counts.
    const isMissed = results.takeFrom(open, row)
    return isMissed || isPiece(row)
  })
}

/** Each sibling goes behind the last member of its own answer that stands before it in the file. */
function insertBeside(
  numbers: AnswerNumbers,
  chain: readonly number[],
  siblings: readonly number[],
): readonly number[] {
  const answerOf = answersOf(numbers, chain, siblings)
  const members = new Map<number, number[]>(siblings.map((sibling) => [answerOf(sibling), []]))
  for (const row of chain) members.get(answerOf(row))?.push(row)
  const behind = new Map<number, number[]>()
  for (const sibling of siblings) {
    const own = members.get(answerOf(sibling)) ?? []
    const place = own.findLast((index) => index < sibling) ?? own[0] ?? chain.at(-1) ?? -1
    const others = behind.get(place)
    if (others) others.push(sibling)
    else behind.set(place, [sibling])
  }
  const order: number[] = []
  for (const row of chain) {
    order.push(row)
    const own = behind.get(row)
    if (own) order.push(...own)
  }
  return order
}

/** The answer a row is a piece of, or a result for: of results, where its call is one of the siblings' answers. */
function answersOf(
  numbers: AnswerNumbers,
  chain: readonly number[],
  siblings: readonly number[],
): (row: number) => number {
  const { calls, results } = numbers
  const wanted = new Set<number>()
  const answers = new Set<number>()
  for (const row of siblings) {
    answers.add(numbers.answerAt(row))
    results.addTo(wanted, row)
  }
  for (const rows of [chain, siblings]) {
    for (const row of rows) if (calls.isAnyIn(wanted, row)) answers.add(numbers.answerAt(row))
  }
  answers.delete(unnamed)
  const ofCall = new Map<number, number>()
  for (const rows of [chain, siblings]) {
    for (const row of rows) {
      const answer = numbers.answerAt(row)
      if (!calls.hasAny(row) || !answers.has(answer)) continue
      for (const call of calls.of(row)) ofCall.set(call, answer)
    }
  }
  return (row) => {
    const own = numbers.answerAt(row)
    return own === unnamed ? results.firstIn(ofCall, row) : own
  }
}
