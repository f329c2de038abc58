// Follows a list that is mostly the one before with a little more at its end: takes in what is new, and takes back what
// is no longer there. Whoever plans before each request reads a conversation once in this way.
import { sameStart } from '../message/same-start.ts'

/** Takes back what was taken in; undefined where that was nothing. */
type Undo = (() => void) | undefined

/**
 * Brings what `take` has taken in to the items of the list it is given. Items are told apart by identity: they never
 * change. What is taken back is taken back from the end.
 */
export function createFollower<T extends object>(take: (item: T, index: number) => Undo): (list: readonly T[]) => void {
  let known: readonly T[] = []
  const undos: Undo[] = []
  return (list) => {
    const same = Math.min(undos.length, sameStart(known, list))
    while (undos.length > same) undos.pop()?.()
    known = list
    for (let index = same; index < list.length; index++) undos.push(take(list[index] as T, index))
  }
}

/**
 * A list beside another that follows it: a place for each item, empty until somebody fills it, and emptied from where on
 * the other list is no longer what it was.
 */
export function createBeside<T extends object, U>(): (list: readonly T[]) => (U | undefined)[] {
  let known: readonly T[] = []
  const places: (U | undefined)[] = []
  return (list) => {
    places.length = Math.min(places.length, sameStart(known, list))
    while (places.length < list.length) places.push(undefined)
    known = list
    return places
  }
}
