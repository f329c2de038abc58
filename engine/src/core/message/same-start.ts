// How far two lists are the same from their start, item by item: what is known of the one holds for the other so far.

export function sameStart<T extends object>(one: readonly T[], other: readonly T[]): number {
  if (one === other) return one.length
  const end = Math.min(one.length, other.length)
  let same = 0
  while (same < end && one[same] === other[same]) same++
  return same
}
