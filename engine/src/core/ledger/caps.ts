// How many facts of each kind a ledger holds, and how the lowest ranks leave.

export const caps = {
  files: 300,
  commands: 200,
  errors: 80,
  urls: 120,
  typed: 200,
  constraints: 120,
  decisions: 120,
  commits: 60,
  names: 3000,
  todos: 60,
  calls: 256,
  openErrors: 12,
} as const

/** What a boundary's metadata carries: lower ranks are found again when they are met again. */
export const storedCaps = { files: 200, commands: 80, errors: 40, urls: 60, typed: 160, names: 1200 } as const

/** Of one typed message, and of all of them in a boundary's metadata. */
export const typedCharacters = { each: 2400, stored: 32_000 } as const

type Trim<Fact> = { readonly cap: number; readonly slack: number; readonly score: (fact: Fact) => number }

/** How many had to leave. */
export function trimFacts<Fact>(facts: Map<string, Fact>, { cap, slack, score }: Trim<Fact>): number {
  if (facts.size <= cap * slack) return 0
  const gone = lowest([...facts], { keep: cap, score: ([, fact]) => score(fact) })
  for (const [key] of gone) facts.delete(key)
  return gone.length
}

/** All but the `keep` best. Of equals the later ones stay. */
function lowest<Item>(
  items: readonly Item[],
  { keep, score }: { readonly keep: number; readonly score: (item: Item) => number },
): readonly Item[] {
  if (items.length <= keep) return []
  const ranked = items.map((item, index) => ({ item, index, score: score(item) }))
  ranked.sort((a, b) => a.score - b.score || a.index - b.index)
  return ranked.slice(0, items.length - keep).map(({ item }) => item)
}

/** The `keep` best, in the order they stood. */
export function best<Item>(
  items: readonly Item[],
  options: { readonly keep: number; readonly score: (item: Item) => number },
): readonly Item[] {
  const gone = new Set(lowest(items, options))
  return gone.size === 0 ? items : items.filter((item) => !gone.has(item))
}
