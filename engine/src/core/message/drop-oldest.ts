// What is remembered by the thousand and may be forgotten: the oldest leave, so that a session of any length stays small.

/** In the order in which they came. */
export function dropOldest(of: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of of.keys()) {
    if (of.size <= most) return
    of.delete(key)
  }
}
