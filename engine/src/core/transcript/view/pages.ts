// A list that grows at its end and now and then changes in the middle, and of which whoever asks gets the state of this
// moment at the price of a few references. Pages that somebody may still look at are copied before they change.
import { type ListMark, markGrowth } from '../../message/same-start.ts'

const pageSize = 256

export type Pages<T> = {
  readonly length: () => number
  readonly at: (index: number) => T | undefined
  readonly push: (value: T) => void
  /** Puts another value in the place of one that is there. */
  readonly set: (index: number, value: T) => void
  readonly cutTo: (length: number) => void
  /** The list as it is now, whatever becomes of it. */
  readonly snapshot: () => Snapshot<T>
}

export type Snapshot<T> = {
  readonly length: number
  /** A list of its own for whoever asks; each time a new one. */
  readonly toArray: () => T[]
}

export function createPages<T>(): Pages<T> {
  return new PageList<T>()
}

class PageList<T> implements Pages<T> {
  private readonly pages: T[][] = []
  /** For each page when it was made: one older than the newest snapshot belongs to that too. */
  private readonly made: number[] = []
  private snapshots = 0
  private count = 0
  /** The newest list that was made, and the first item that was touched since then, and since the newest snapshot. */
  private listed: ListMark | undefined
  private sinceListed = 0
  private sinceSnapshot = 0

  length(): number {
    return this.count
  }

  at(index: number): T | undefined {
    return this.pages[Math.floor(index / pageSize)]?.[index % pageSize]
  }

  push(value: T): void {
    // Behind what a snapshot looks at: no copy is needed.
    const page = this.count % pageSize === 0 ? this.freshPage() : this.pages.at(-1)
    page?.push(value)
    this.count++
  }

  set(index: number, value: T): void {
    this.touch(index)
    this.ownPage(Math.floor(index / pageSize))[index % pageSize] = value
  }

  cutTo(length: number): void {
    if (length >= this.count) return
    this.touch(length)
    const whole = Math.ceil(length / pageSize)
    this.pages.length = whole
    this.made.length = whole
    this.count = length
    const rest = length % pageSize
    if (rest > 0) this.ownPage(whole - 1).length = rest
  }

  snapshot(): Snapshot<T> {
    this.snapshots++
    this.sinceSnapshot = this.count
    const snapshot = { pages: this.pages.slice(), length: this.count, nth: this.snapshots }
    const growth = { before: this.listed, same: this.sinceListed }
    return { length: snapshot.length, toArray: () => this.listOf(snapshot, growth) }
  }

  private listOf({ pages, length, nth }: Taken<T>, growth: { before: ListMark | undefined; same: number }): T[] {
    const list = joined(pages, length)
    const mark = markGrowth(list, growth)
    // Behind a newer snapshot nobody knows what was touched since this one.
    if (nth === this.snapshots) {
      this.listed = mark
      this.sinceListed = this.sinceSnapshot
    }
    return list
  }

  private touch(index: number): void {
    this.sinceListed = Math.min(this.sinceListed, index)
    this.sinceSnapshot = Math.min(this.sinceSnapshot, index)
  }

  private freshPage(): T[] {
    const page: T[] = []
    this.pages.push(page)
    this.made.push(this.snapshots)
    return page
  }

  private ownPage(index: number): T[] {
    const page = this.pages[index] ?? []
    if (this.made[index] === this.snapshots) return page
    const copy = page.slice()
    this.pages[index] = copy
    this.made[index] = this.snapshots
    return copy
  }
}

type Taken<T> = { readonly pages: readonly T[][]; readonly length: number; readonly nth: number }

/** The last page may have grown since. One argument for each page: no list that fits into memory has too many. */
function joined<T>(pages: readonly T[][], length: number): T[] {
  const all = ([] as T[]).concat(...pages)
  if (all.length > length) all.length = length
  return all
}
