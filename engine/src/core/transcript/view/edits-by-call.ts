// Which edits name a tool call, by the number of the call: one edit may name thousands, and mostly a call is named by one.

export class EditsByCall<T extends { readonly row: number }> {
  private readonly edits: (T | readonly T[] | undefined)[] = []
  /** How many calls are named. */
  size = 0

  newest(call: number): T | undefined {
    const known = this.edits[call]
    return isList(known) ? known.at(-1) : known
  }

  /** In the order of the transcript: the newest decides, also when an older one comes back. */
  put(call: number, at: T): void {
    while (this.edits.length <= call) this.edits.push(undefined)
    const known = this.edits[call]
    if (known === undefined) {
      this.edits[call] = at
      this.size++
      return
    }
    const list = isList(known) ? known : [known]
    if (!list.includes(at)) this.edits[call] = [...list, at].toSorted((a, b) => a.row - b.row)
  }

  drop(call: number, at: T): void {
    const known = this.edits[call]
    if (known === undefined) return
    const left = (isList(known) ? known : [known]).filter((other) => other !== at)
    this.edits[call] = left.length > 1 ? left : left[0]
    if (left.length === 0) this.size--
  }
}

function isList<T>(known: T | readonly T[] | undefined): known is readonly T[] {
  return Array.isArray(known)
}
