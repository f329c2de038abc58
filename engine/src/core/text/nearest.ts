// The known name that somebody probably meant.

/** The one with the fewest changed letters, if they are at most a third of the name. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((other) => ({ other, distance: distanceOf(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, distance }) => distance <= Math.max(name.length, other.length) / 3)
    .toSorted((a, b) => a.distance - b.distance)
  return best?.other
}

/** How many letters must be added, removed or replaced. */
function distanceOf(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const now = [row]
    for (let at = 1; at <= b.length; at++) {
      const replaced = (before[at - 1] ?? 0) + (a[row - 1] === b[at - 1] ? 0 : 1)
      now.push(Math.min(replaced, (before[at] ?? 0) + 1, (now[at - 1] ?? 0) + 1))
    }
    before = now
  }
  return before[b.length] ?? 0
}
