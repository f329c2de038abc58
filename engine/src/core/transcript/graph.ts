// The tree that a transcript's entries form, made whole: kept messages spliced behind their summary, orphans
// attached, rings cut. It works on heads alone, so a full scan, the tail of a file and an index all use it.
import type { Kept } from './boundary.ts'
import { type Head, isSpoken } from './entry.ts'

export type Graph = {
  readonly heads: readonly Head[]
  /** The first entry that carries a uuid wins. */
  readonly byUuid: ReadonlyMap<string, number>
  /** Index of the parent after relinking; -1 for a root. */
  readonly parents: Int32Array
  /** Entries whose parent is not in the file, as indices. Expected after compactions, not an error. */
  readonly orphans: readonly number[]
  /** Entries that carry a uuid seen before. */
  readonly duplicates: readonly number[]
  /** Where rings of parents were cut. */
  readonly cuts: readonly number[]
  /** For each boundary that kept messages: which, in order. Those never written to disk are not among them. */
  readonly kept: ReadonlyMap<number, readonly number[]>
}

export function buildGraph(heads: readonly Head[]): Graph {
  const byUuid = new Map<string, number>()
  const duplicates: number[] = []
  for (const [index, head] of heads.entries()) {
    if (head.uuid === undefined) continue
    if (byUuid.has(head.uuid)) duplicates.push(index)
    else byUuid.set(head.uuid, index)
  }
  const parents = new Int32Array(heads.length).fill(-1)
  const orphans = linkParents(heads, byUuid, parents)
  const kept = relink({ heads, byUuid, parents })
  return { heads, byUuid, parents, orphans, duplicates, cuts: cutRings(parents), kept }
}

type Links = {
  readonly heads: readonly Head[]
  readonly byUuid: ReadonlyMap<string, number>
  readonly parents: Int32Array
}

/** A missing parent is replaced by the nearest earlier tree entry of the same side (main or sub-agent), if any. */
function linkParents(
  heads: readonly Head[],
  byUuid: ReadonlyMap<string, number>,
  parents: Int32Array,
): readonly number[] {
  const orphans: number[] = []
  let lastMain = -1
  let lastSide = -1
  for (const [index, head] of heads.entries()) {
    if (head.uuid === undefined) continue
    if (typeof head.parent === 'string') {
      const parent = byUuid.get(head.parent)
      if (parent === undefined) orphans.push(index)
      parents[index] = parent ?? (head.sidechain ? lastSide : lastMain)
    }
    if (head.sidechain) lastSide = index
    else lastMain = index
  }
  return orphans
}

function relink(links: Links): ReadonlyMap<number, readonly number[]> {
  const { heads, byUuid, parents } = links
  const boundaries: number[] = []
  for (const [index, head] of heads.entries()) if (head.boundary) boundaries.push(index)
  for (const boundary of boundaries) if (heads[boundary]?.type === 'compact_system') relinkLegacy(links, boundary)

  const splices = boundaries.flatMap((boundary) => {
    const kept = heads[boundary]?.boundary?.kept
    if (!kept) return []
    const anchor = kept.type === 'counted' ? boundary : byUuid.get(kept.anchor)
    return anchor === undefined ? [] : [{ boundary, anchor, kept: keptIndices(links, boundary, kept) }]
  })
  const children = new Map<number, number[]>(splices.map(({ anchor }) => [anchor, []]))
  for (const [index, parent] of parents.entries()) children.get(parent)?.push(index)
  for (const { anchor, kept } of splices) splice(parents, { anchor, kept, children: children.get(anchor) ?? [] })
  return new Map(splices.map(({ boundary, kept }) => [boundary, kept]))
}

/**
 * Puts the kept messages of one boundary behind its anchor (the summary), and what followed the anchor behind the
 * last of them. This covers every layout seen: kept before the boundary and not relinked, kept before it with the
 * conversation hanging on the last kept message, kept after it.
 */
function splice(
  parents: Int32Array,
  at: { readonly anchor: number; readonly kept: readonly number[]; readonly children: readonly number[] },
): void {
  const last = at.kept.at(-1)
  if (last === undefined) return
  for (const child of at.children) if (parents[child] === at.anchor) parents[child] = last
  let previous = at.anchor
  for (const index of at.kept) {
    parents[index] = previous
    previous = index
  }
}

/** The legacy record stands beside the chain: what comes after it and hangs on what came before belongs to it. */
function relinkLegacy({ heads, parents }: Links, boundary: number): void {
  parents[boundary] = -1
  for (let index = boundary + 1; index < heads.length; index++) {
    const parent = parents[index] ?? -1
    if (heads[index]?.uuid !== undefined && !heads[index]?.sidechain && parent >= 0 && parent < boundary) {
      parents[index] = boundary
    }
  }
}

function keptIndices(links: Links, boundary: number, kept: Kept): readonly number[] {
  const { heads, byUuid, parents } = links
  switch (kept.type) {
    case 'listed': {
      const indices = kept.uuids.map((uuid) => byUuid.get(uuid)).filter((index) => index !== undefined)
      return [...new Set(indices)].filter((index) => index !== byUuid.get(kept.anchor))
    }
    case 'segment': {
      const head = byUuid.get(kept.head)
      const chain: number[] = []
      const seen = new Set<number>()
      for (let index = byUuid.get(kept.tail) ?? -1; index >= 0 && !seen.has(index); index = parents[index] ?? -1) {
        chain.push(index)
        seen.add(index)
        if (index === head) return chain.reverse()
      }
      return [] // Head and tail are not on one chain: nothing can be said to have been kept.
    }
    case 'counted': {
      const found: number[] = []
      for (let index = boundary - 1; index >= 0 && found.length < kept.count; index--) {
        const head = heads[index]
        if (head?.boundary) break
        if (head && head.uuid !== undefined && !head.sidechain && isSpoken(head)) found.push(index)
      }
      return found.reverse()
    }
  }
}

/** Makes every chain end: the entry at which a walk would meet itself again becomes a root. */
function cutRings(parents: Int32Array): readonly number[] {
  const cuts: number[] = []
  const walk = new Int32Array(parents.length).fill(-1)
  for (let start = 0; start < parents.length; start++) {
    let index = start
    while (index >= 0 && walk[index] === -1) {
      walk[index] = start
      const parent = parents[index] ?? -1
      if (parent >= 0 && walk[parent] === start) {
        parents[index] = -1
        cuts.push(index)
        break
      }
      index = parent
    }
  }
  return cuts
}
