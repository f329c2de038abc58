// How far two lists are the same from their start, item by item: what is known of the one holds for the other so far.

export function sameStart<T extends object>(one: readonly T[], other: readonly T[]): number {
  if (one === other) return one.length
  const end = Math.min(one.length, other.length)
  let same = 0
  // Not `===`: for that V8 looks into each object to see that it is one, and so waits for memory 10,000 times.
  while (same < end && Object.is(one[same], other[same])) same++
  return same
}
