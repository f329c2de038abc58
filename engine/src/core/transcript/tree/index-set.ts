// The indices of some of the items of a list that grows at its end, list after list. What was found before is not looked
// for again, and while the indices are the same the answer is the very same set: so others see that nothing changed.
import { sameStart } from '../../message/same-start.ts'

/** `find` returns the indices from a place on, in their order; which they are depends on the items and the key alone. */
export function createIndexSet<T extends object, K>(
  find: (list: readonly T[], from: number, key: K) => readonly number[],
): (list: readonly T[], key: K) => ReadonlySet<number> {
  let known: readonly T[] = []
  let asked: { readonly key: K } | undefined
  let indices: readonly number[] = []
  let found: ReadonlySet<number> = new Set()
  return (list, key) => {
    const same = asked?.key === key ? sameStart(known, list) : 0
    const isKept = (indices.at(-1) ?? -1) < same
    const fresh = find(list, same, key)
    if (!isKept || fresh.length > 0) {
      const kept = isKept ? indices : indices.filter((index) => index < same)
      const now = [...kept, ...fresh]
      if (now.length !== indices.length || now.some((index, at) => index !== indices[at])) found = new Set(now)
      indices = now
    }
    known = list
    asked = { key }
    return found
  }
}
