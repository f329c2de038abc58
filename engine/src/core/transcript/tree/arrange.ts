// The chain of a conversation with what belongs to its answers put beside them: parallel tool calls leave pieces and
// results on side branches, and a bare walk from the newest message loses them.
import { type AnswerNumbers, unnamed } from './answer-numbers.ts'
import { isSidechainAt, type TreeTable, typeAt } from './entry-table.ts'
import { DenseSet, type NumberSet } from './number-set.ts'

export type Lines = { readonly table: TreeTable; readonly numbers: AnswerNumbers }

/** Rows of the chain, or of its end; rows before `from` are not looked at. */
export type Stretch = { readonly chain: readonly number[]; readonly from: number }

export function arrange(lines: Lines, stretch: Stretch): readonly number[] {
  const others = rowsBeside(lines, stretch)
  if (others.length === 0) return stretch.chain
  const arranging = new Arranging(lines, stretch)
  const siblings = arranging.siblingsAmong(others)
  return siblings.length === 0 ? stretch.chain : arranging.insertBeside(siblings)
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

class Arranging {
  private readonly numbers: AnswerNumbers
  private readonly chain: readonly number[]
  /** A set for so many numbers: a few rows at the end of a conversation name few of them. */
  private readonly numberSet: (size: number) => NumberSet
  private readonly rows: number

  constructor({ numbers, table }: Lines, { chain, from }: Stretch) {
    this.numbers = numbers
    this.chain = chain
    this.rows = table.rows
    this.numberSet = from === 0 ? (size) => new DenseSet(size) : () => new Set<number>()
  }

  /** Of these rows the further pieces of every answer on the chain, and the results of its calls that the chain lacks. */
  siblingsAmong(others: readonly number[]): readonly number[] {
    const { numbers, chain } = this
    const counts = numbers.counts()
    const answers = this.numberSet(counts.answers)
    const open = this.numberSet(counts.calls)
    for (const row of chain) {
      const answer = numbers.answerAt(row)
      if (answer === unnamed) continue
      answers.add(answer)
      numbers.calls.addTo(open, row)
    }
    const isPiece = (row: number) => answers.has(numbers.answerAt(row))
    for (const row of others) if (isPiece(row)) numbers.calls.addTo(open, row)
    for (const row of chain) numbers.results.takeFrom(open, row)
    return others.filter((row) => {
      // Of two results for one call the first counts.
      const isMissed = numbers.results.takeFrom(open, row)
      return isMissed || isPiece(row)
    })
  }

  /** Each sibling goes behind the last member of its own answer that stands before it in the file. */
  insertBeside(siblings: readonly number[]): readonly number[] {
    const { chain } = this
    const answerOf = this.answersOf(siblings)
    const members = new Map<number, number[]>(siblings.map((sibling) => [answerOf(sibling), []]))
    for (const row of chain) {
      const answer = answerOf(row)
      if (answer !== unnamed) members.get(answer)?.push(row)
    }
    const behind = new Map<number, number[]>()
    const isBefore = this.numberSet(this.rows)
    for (const sibling of siblings) {
      const own = members.get(answerOf(sibling)) ?? []
      const place = own.findLast((index) => index < sibling) ?? own[0] ?? chain.at(-1) ?? -1
      isBefore.add(place)
      const others = behind.get(place)
      if (others) others.push(sibling)
      else behind.set(place, [sibling])
    }
    const order: number[] = []
    for (const row of chain) {
      order.push(row)
      if (isBefore.has(row)) order.push(...(behind.get(row) ?? []))
    }
    return order
  }

  /** Which of the siblings' answers a row is a piece of, or a result for. */
  private answersOf(siblings: readonly number[]): (row: number) => number {
    const { numbers, chain } = this
    const { calls, results } = numbers
    const counts = numbers.counts()
    const wanted = this.numberSet(counts.calls)
    const answers = this.numberSet(counts.answers)
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
      if (own === unnamed) return results.firstIn(ofCall, row)
      return answers.has(own) ? own : unnamed
    }
  }
}
