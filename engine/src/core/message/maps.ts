// Helpers for maps and sets.

/** `Map.groupBy`, which Node 20 does not have. */
export function groupBy<T, K = string>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** Drops the oldest entries above `max`, so that long sessions do not grow in memory. */
export function dropOldest(of: Map<string, unknown> | Set<string>, max: number): void {
  for (const key of of.keys()) {
    if (of.size <= max) return
    of.delete(key)
  }
}
