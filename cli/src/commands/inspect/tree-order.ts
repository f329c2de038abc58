// The order of a transcript's entries as a tree: the trunk that leads to the newest entry is on the left, side branches are indented
// before it continues, and a sub-agent is one line. Pure; reads links, not content.
import { isSidechainAt, type Scan, typeAt } from 'everlong/internal'

export type TreePlace = {
  readonly row: number
  /** 0 is the trunk. */
  readonly depth: number
  /** For a sub-agent, whose first entry is `row`: its number of entries. */
  readonly folded?: number
}

type Links = Pick<Scan, 'table' | 'graph'>

/** Skips rows that `isShown` rejects, but not their children. */
export function treeOrder(scan: Links, isShown: (row: number) => boolean): readonly TreePlace[] {
  const forest = forestOf(scan)
  const places: TreePlace[] = []
  const stack: { readonly row: number; readonly depth: number }[] = []
  for (const root of forest.roots) {
    stack.push({ row: root, depth: 0 })
    for (let at = stack.pop(); at; at = stack.pop()) {
      if (forest.isFolded(at.row)) {
        places.push({ ...at, folded: forest.sizeOf(at.row) })
        continue
      }
      if (isShown(at.row)) places.push(at)
      const children = forest.childrenOf(at.row)
      const trunk = newestOf(children, forest)
      if (trunk !== undefined) stack.push({ row: trunk, depth: at.depth })
      for (const child of children.toReversed()) if (child !== trunk) stack.push({ row: child, depth: at.depth + 1 })
    }
  }
  return places
}

/** Where the conversation continues: the branch with the newest entry. A folded sub-agent is never the trunk. */
function newestOf(children: readonly number[], forest: Forest): number | undefined {
  let best: number | undefined
  for (const child of children) {
    if (forest.isFolded(child)) continue
    if (best === undefined || forest.newestIn(child) > forest.newestIn(best)) best = child
  }
  return best
}

type Forest = {
  readonly roots: readonly number[]
  readonly childrenOf: (row: number) => readonly number[]
  readonly newestIn: (row: number) => number
  readonly sizeOf: (row: number) => number
  /** The first entry of a sub-agent inside a conversation. */
  readonly isFolded: (row: number) => boolean
}

function forestOf({ table, graph }: Links): Forest {
  const isSide = sideOf(table)
  const parents = graph.parents.slice()
  const roots: number[] = []
  const children = new Map<number, number[]>()
  let lastMain = -1
  for (let row = 0; row < table.rows; row++) {
    if (typeAt(table, row) === '') continue
    const parent = parents[row] ?? -1
    // A sub-agent without a parent becomes a child of the entry that was newest when it began.
    if (parent < 0 && isSide(row) && lastMain >= 0) parents[row] = lastMain
    const home = parents[row] ?? -1
    if (home < 0) roots.push(row)
    else childrenAt(children, home).push(row)
    if (!isSide(row)) lastMain = row
  }
  const { newest, sizes } = sumUp({ roots, children, rows: table.rows, parents })
  return {
    roots,
    childrenOf: (row) => children.get(row) ?? [],
    newestIn: (row) => newest[row] ?? row,
    sizeOf: (row) => sizes[row] ?? 1,
    isFolded: (row) => isSide(row) && !((parents[row] ?? -1) >= 0 && isSide(parents[row] ?? -1)),
  }
}

function childrenAt(children: Map<number, number[]>, row: number): number[] {
  const known = children.get(row)
  if (known) return known
  const fresh: number[] = []
  children.set(row, fresh)
  return fresh
}

/** In the file of a sub-agent, all entries are the conversation. */
function sideOf(table: Links['table']): (row: number) => boolean {
  for (let row = 0; row < table.rows; row++) {
    const type = typeAt(table, row)
    if ((type === 'user' || type === 'assistant') && !isSidechainAt(table, row)) return (at) => isSidechainAt(table, at)
  }
  return () => false
}

type Linked = {
  readonly roots: readonly number[]
  readonly children: ReadonlyMap<number, readonly number[]>
  readonly parents: readonly number[]
  readonly rows: number
}

/** For each entry and its descendants: the newest row and their number. */
function sumUp({ roots, children, parents, rows }: Linked) {
  const order: number[] = []
  const stack = [...roots]
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    order.push(row)
    for (const child of children.get(row) ?? []) stack.push(child)
  }
  const newest = Int32Array.from({ length: rows }, (_, row) => row)
  const sizes = new Int32Array(rows).fill(1)
  for (const row of order.reverse()) {
    const parent = parents[row] ?? -1
    if (parent < 0) continue
    newest[parent] = Math.max(newest[parent] ?? 0, newest[row] ?? 0)
    sizes[parent] = (sizes[parent] ?? 1) + (sizes[row] ?? 1)
  }
  return { newest, sizes }
}
