// Forgets the oldest, so that a session of any length stays small.

export function dropOldest(of: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of of.keys()) {
    if (of.size <= most) return
    of.delete(key)
  }
}
