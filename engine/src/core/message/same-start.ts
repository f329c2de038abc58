// How far two lists are the same from their start, item by item: what is known of the one holds for the other so far.
// Lists that grow out of one another say so themselves, so that nobody has to compare thousands of items for one more.

const growth = Symbol('growth')

/** What tells a list apart from all others, and keeps nothing of it. */
export type ListMark = object

type Growth = { readonly own: ListMark; readonly before: ListMark | undefined; readonly same: number }
type Grown = readonly unknown[] & { readonly [growth]?: Growth }

/**
 * Says of a fresh list that so many items at least are, from the start, the very same as in another, which has this mark.
 * Neither may be changed from then on. Returns the list's own mark.
 */
export function markGrowth(
  list: readonly unknown[],
  { before, same }: { readonly before: ListMark | undefined; readonly same: number },
): ListMark {
  const own = {}
  // Not to be seen by whoever copies, compares or prints the list.
  Object.defineProperty(list, growth, { value: { own, before, same } satisfies Growth })
  return own
}

export function sameStart<T extends object>(one: readonly T[], other: readonly T[]): number {
  if (one === other) return one.length
  const end = Math.min(one.length, other.length)
  let same = Math.min(markedStart(one, other), end)
  // Not `===`: for that V8 looks into each object to see that it is one, and so waits for memory 10,000 times.
  while (same < end && Object.is(one[same], other[same])) same++
  return same
}

function markedStart(one: Grown, other: Grown): number {
  const known = other[growth]
  return known?.before !== undefined && known.before === one[growth]?.own ? known.same : 0
}
