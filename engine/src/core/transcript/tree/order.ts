// The live order, kept up to date entry by entry: which rows of a transcript are in the view, and in which order. An
// entry that goes on from the newest, or that hangs beside it in the same answer, is placed at once; everything else
// (boundaries, orphans, branches, what edits do to the tree) makes it read the whole tree again, when it is asked.

import type { Head } from '../format/entry.ts'
import { AnswerNumbers, unnamed } from './answer-numbers.ts'
import { arrange } from './arrange.ts'
import { addToTree, createTree, isSidechainAt, isVisibleAt, noParent, resolvePending, typeAt } from './entry-table.ts'
import { type BoundaryAt, buildGraph, type Graph } from './graph.ts'
import { newestLeaf, walkUp } from './live.ts'
import { nothingUndone, type Standing } from './standing.ts'

export type LiveOrder = {
  /** How many entries there are, in the view or not. */
  readonly length: () => number
  /** What is known of a row, read again: heads are not kept. */
  readonly head: (row: number) => Head | undefined
  readonly boundaries: readonly BoundaryAt[]
  /** Returns the entry's row. */
  readonly add: (head: Head) => number
  /** Says that other boundaries or rewinds are in force. */
  readonly change: (standing: Standing) => void
  readonly rowOf: (uuid: string) => number
  readonly isDuplicate: (row: number) => boolean
  /** The rows in the view's order. */
  readonly rows: () => readonly number[]
  /** What the compaction with this boundary kept word for word. */
  readonly keptBy: (boundary: number) => readonly number[]
  /** Where a row stands in it; undefined when it is not in the view. */
  readonly placeOf: (row: number) => number | undefined
  /** The place from which on the order is another one than when this was last asked. */
  readonly changedFrom: () => number
  /** Whether a request can be made of it. */
  readonly isVisible: (row: number) => boolean
  /** The answer a row is a piece of, as a number; negative when it is of none. */
  readonly pieceOf: (row: number) => number
  /** The answer a row belongs to: as a piece of it, or as a result of one of its calls. */
  readonly answerOf: (row: number) => number | undefined
  readonly piecesOf: (answer: number) => readonly number[]
  readonly resultsOfCallsAt: (row: number) => readonly number[]
  /** The number of a call, which it has from then on, whether it has come or not. */
  readonly callOf: (toolUseId: string) => number
  readonly usesOf: (calls: Int32Array) => readonly number[]
  readonly resultsOf: (calls: Int32Array) => readonly number[]
}

const noRows: readonly number[] = []

/** `headAt` reads the head of a row that was added. */
export function createLiveOrder(headAt: (row: number) => Head | undefined): LiveOrder {
  const order = new Order()
  const { table, numbers } = order
  return {
    length: () => table.rows,
    head: headAt,
    boundaries: order.boundaries,
    add: (head) => order.add(head),
    change: (standing) => order.change(standing),
    rowOf: (uuid) => table.ids.findId(uuid),
    isDuplicate: (row) => order.duplicates.has(row),
    rows: () => order.settled().order,
    keptBy: (boundary) => order.settled().graph.kept.get(boundary) ?? noRows,
    placeOf: (row) => order.settled().places.get(row),
    changedFrom: () => order.takeChange(),
    isVisible: (row) => isVisibleAt(table, row),
    pieceOf: (row) => numbers.answerAt(row),
    answerOf: (row) => order.indexed().answerOf(row),
    piecesOf: (answer) => rowsAt(order.indexed().pieces, answer),
    resultsOfCallsAt: (row) => order.indexed().resultsOfCallsAt(row),
    callOf: (id) => numbers.callOf(id),
    usesOf: (calls) => rowsOfAll(order.indexed().uses, calls),
    resultsOf: (calls) => rowsOfAll(order.indexed().results, calls),
  }
}

class Order {
  readonly boundaries: BoundaryAt[] = []
  readonly table = createTree()
  readonly numbers = new AnswerNumbers()
  readonly duplicates = new Set<number>()
  /** By the number of the call, or of the answer. */
  readonly uses: RowIndex = []
  readonly results: RowIndex = []
  readonly pieces: RowIndex = []
  readonly order: number[] = []
  readonly places = new RowMarks()
  private readonly chain: number[] = []
  private readonly links = new RowMarks()
  graph: Graph = { parents: new Int32Array(), orphans: [], cuts: [], kept: new Map() }
  private standing = nothingUndone
  /** Ids that something refers to and that have not come yet. */
  private readonly awaited = new Set<string>()
  /** Summaries behind which kept messages are put: what hangs on them hangs elsewhere. */
  private readonly anchors = new Set<number>()
  private lastLegacy = noParent
  private indexedTo = 0
  private isSide = false
  private isStale = true
  private changed = 0

  add(head: Head): number {
    const row = addToTree(this.table, head)
    this.numbers.add(head)
    if (this.table.duplicates.at(-1) === row) this.duplicates.add(row)
    else if (head.uuid !== undefined) this.place(head, row)
    return row
  }

  change(standing: Standing): void {
    this.standing = standing
    this.isStale = true
  }

  settled(): this {
    if (this.isStale) this.rebuild()
    return this
  }

  takeChange(): number {
    const from = this.settled().changed
    this.changed = this.order.length
    return from
  }

  answerOf(row: number): number | undefined {
    const own = this.numbers.answerAt(row)
    if (own !== unnamed) return own
    for (const call of this.numbers.results.of(row)) {
      const [use] = rowsAt(this.uses, call)
      const answer = use === undefined ? unnamed : this.numbers.answerAt(use)
      if (use !== undefined) return answer === unnamed ? undefined : answer
    }
    return undefined
  }

  resultsOfCallsAt(row: number): readonly number[] {
    return this.numbers.calls.of(row).flatMap((call) => rowsAt(this.results, call))
  }

  private place(head: Head, row: number): void {
    const parent = this.table.parents[row] ?? noParent
    const isKnown = head.parent === null || head.parent === undefined || parent >= 0
    if (head.boundary) this.addBoundary({ row, boundary: head.boundary, isLegacy: head.type === 'compact_system' })
    if (!isKnown && typeof head.parent === 'string') this.awaited.add(head.parent)
    // Asking an empty set would still take the hash of every uuid.
    const isAwaited = this.awaited.size > 0 && head.uuid !== undefined && this.awaited.has(head.uuid)
    if (!isKnown || head.boundary || isAwaited) this.isStale = true
    if (!this.isStale && isVisibleAt(this.table, row)) this.isStale = !this.extend(head, row)
  }

  /**
   * The rows by id, up to this one and without it. Whoever folds a whole file and never comes back has no need of them,
   * so they are filled when somebody asks.
   */
  indexed(end = this.table.rows): this {
    for (; this.indexedTo < end; this.indexedTo++) {
      const row = this.indexedTo
      if (typeAt(this.table, row) === '' || this.duplicates.has(row)) continue
      const answer = this.numbers.answerAt(row)
      if (answer !== unnamed) push(this.pieces, answer, row)
      for (const call of this.numbers.calls.of(row)) push(this.uses, call, row)
      for (const call of this.numbers.results.of(row)) push(this.results, call, row)
    }
    return this
  }

  private addBoundary(at: BoundaryAt): void {
    this.boundaries.push(at)
    if (at.isLegacy) this.lastLegacy = at.row
    const { kept } = at.boundary
    if (kept === undefined || kept.type === 'counted') return
    const named = kept.type === 'listed' ? kept.uuids : [kept.head, kept.tail]
    for (const uuid of [kept.anchor, ...named]) if (this.table.ids.findId(uuid) < 0) this.awaited.add(uuid)
  }

  /** Places a visible entry; false when that takes a look at the whole tree. */
  private extend(head: Head, row: number): boolean {
    if (head.sidechain !== this.isSide) return head.sidechain && this.chain.length > 0
    this.indexed(row)
    const path = this.pathTo(row)
    const link = path && this.links.get(path.link)
    if (link === undefined || path === undefined) return false
    const isStraight = path.rows.every((at) => at === row || !isVisibleAt(this.table, at))
    if (link === this.chain.length - 1) return isStraight && this.append(row, path.rows)
    return this.branch(row, { link, rows: path.rows })
  }

  /** The rows between the chain and this one, itself last; undefined when something on the way bends the tree. */
  private pathTo(row: number): { readonly link: number; readonly rows: readonly number[] } | undefined {
    const rows = [row]
    for (let at = this.parentOf(row); at >= 0; at = this.parentOf(at)) {
      if (this.anchors.has(at) || at < this.lastLegacy) return undefined
      if (this.links.has(at)) return { link: at, rows: rows.reverse() }
      const isBent = typeAt(this.table, at) === 'boundary' || isSidechainAt(this.table, at) !== this.isSide
      if (isBent || rows.length > this.table.rows) return undefined
      rows.push(at)
    }
    return undefined
  }

  private parentOf(row: number): number {
    const { parents } = this.graph
    return (row < parents.length ? parents[row] : this.table.parents[row]) ?? noParent
  }

  private append(row: number, rows: readonly number[]): boolean {
    const isPlaced = (at: number) => this.places.has(at)
    const { calls, results } = this.numbers
    const pieces = rowsAt(this.pieces, this.numbers.answerAt(row))
    const isWhole = pieces.every(isPlaced) && calls.of(row).every((call) => this.results[call] === undefined)
    // A second result for a call: which of the two counts depends on which is on the chain.
    const isFirst = results.of(row).every((call) => !rowsAt(this.results, call).some(isPlaced))
    if (!isWhole || !isFirst) return false
    this.push(rows, rows)
    return true
  }

  /** Parallel calls: the entry hangs beside the newest one, both in the same answer, which is put in order again. */
  private branch(row: number, path: { readonly link: number; readonly rows: readonly number[] }): boolean {
    const answer = this.answerOf(row)
    if (answer === undefined) return false
    const pieces = rowsAt(this.pieces, answer)
    const links = pieces.map((piece) => this.links.get(piece)).filter((link) => link !== undefined)
    const first = Math.min(...links)
    if (links.length === 0 || first > path.link) return false
    const isOurs = (at: number) => [undefined, answer].includes(this.answerOf(at))
    if (!this.chain.slice(first).every(isOurs)) return false
    if (!path.rows.every((at) => !isVisibleAt(this.table, at) || this.answerOf(at) === answer)) return false
    const start = this.places.get(this.chain[first] ?? noParent)
    if (start === undefined) return false
    const chain = [...this.chain.slice(first, path.link + 1), ...path.rows]
    const results = pieces.flatMap((piece) => this.resultsOfCallsAt(piece))
    const order = arrange(this, { chain, from: Math.min(...pieces, ...chain, ...results) })
    this.cut(first, start)
    this.push(chain, order)
    return true
  }

  private cut(link: number, place: number): void {
    for (const row of this.chain.splice(link)) this.links.delete(row)
    for (const row of this.order.splice(place)) this.places.delete(row)
    this.changed = Math.min(this.changed, place)
  }

  private push(chain: readonly number[], order: readonly number[]): void {
    for (let at = 0; at < chain.length; at++)
      this.links.set(chain[at] ?? noParent, this.chain.push(chain[at] ?? noParent) - 1)
    for (let at = 0; at < order.length; at++)
      this.places.set(order[at] ?? noParent, this.order.push(order[at] ?? noParent) - 1)
  }

  private rebuild(): void {
    resolvePending(this.table)
    this.graph = buildGraph(this.table, this.boundaries, this.standing)
    this.isStale = false
    this.cut(0, 0)
    this.anchors.clear()
    const tails = this.keptTails()
    for (const anchor of tails.keys()) this.anchors.add(anchor)
    const newest = newestLeaf(this.table, (row) => isVisibleAt(this.table, row) || this.standing.rewinds.has(row))
    // A compaction that nothing follows yet: what it kept stands behind its summary all the same.
    const leaf = tails.get(newest) ?? newest
    this.isSide = isSidechainAt(this.table, leaf)
    if (leaf < 0) {
      this.isStale = true
      return
    }
    const isEnd = (row: number) => typeAt(this.table, row) === 'boundary' && !this.standing.out.has(row)
    const chain = walkUp(this.graph, leaf, isEnd)
    this.push(chain, arrange(this, { chain, from: 0 }))
  }

  /** By anchor: the last of the messages that were kept behind it. */
  private keptTails(): ReadonlyMap<number, number> {
    const tails = new Map<number, number>()
    for (const { row, boundary } of this.boundaries) {
      const tail = this.graph.kept.get(row)?.at(-1)
      if (tail === undefined || boundary.kept === undefined || boundary.kept.type === 'counted') continue
      tails.set(this.table.ids.findId(boundary.kept.anchor), tail)
    }
    return tails
  }
}

/** Rows by number; most numbers have one, and need no list for it. */
type RowIndex = (number | number[] | undefined)[]

function push(index: RowIndex, key: number, row: number): void {
  // Without holes: numbers come about in the order in which they are counted.
  while (index.length <= key) index.push(undefined)
  const rows = index[key]
  if (rows === undefined) index[key] = row
  else if (typeof rows === 'number') index[key] = [rows, row]
  else rows.push(row)
}

function rowsAt(index: RowIndex, key: number): readonly number[] {
  const rows = index[key]
  if (rows === undefined) return noRows
  return typeof rows === 'number' ? [rows] : rows
}

/** By a loop: an edit may name thousands. */
function rowsOfAll(index: RowIndex, keys: Int32Array): readonly number[] {
  const found: number[] = []
  for (const key of keys) {
    const rows = index[key]
    if (typeof rows === 'number') found.push(rows)
    else if (rows) for (const row of rows) found.push(row)
  }
  return found
}

/** A number for some of the rows, in eight bytes each at most. */
class RowMarks {
  private marks = new Int32Array(1024)

  get(row: number): number | undefined {
    const mark = this.marks[row] ?? 0
    return mark === 0 ? undefined : mark - 1
  }

  has(row: number): boolean {
    return (this.marks[row] ?? 0) !== 0
  }

  set(row: number, value: number): void {
    if (row >= this.marks.length) {
      const larger = new Int32Array(Math.max(row + 1, this.marks.length * 2))
      larger.set(this.marks)
      this.marks = larger
    }
    this.marks[row] = value + 1
  }

  delete(row: number): void {
    if (row < this.marks.length) this.marks[row] = 0
  }
}
