// Well-formed Unicode: a text that holds half a character (a lone surrogate) is refused by the API. Values that are well
// formed come back as the very same, so that nothing is copied for the usual case.

/** Lone surrogates become U+FFFD. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** The same for every string in a JSON value, keys included. Of two keys that become the same, the last one stays. */
export function wellFormedValue<T>(value: T): T
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? wellFormedArray(value) : wellFormedObject(value as Readonly<Record<string, unknown>>)
}

function wellFormedArray(items: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let at = 0; at < items.length; at++) {
    const item = wellFormedValue(items[at])
    if (item === items[at]) continue
    copy ??= [...items]
    copy[at] = item
  }
  return copy ?? items
}

function wellFormedObject(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let isSame = true
  const entries = Object.entries(object).map(([key, value]) => {
    const entry = [wellFormed(key), wellFormedValue(value)] as const
    isSame &&= entry[0] === key && entry[1] === value
    return entry
  })
  return isSame ? object : Object.fromEntries(entries)
}
