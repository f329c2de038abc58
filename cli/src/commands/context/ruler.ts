// Marks below a bar: a letter for each threshold, on the bar's scale.

export type Mark = { readonly letter: string; readonly value: number }

export type Along = { readonly whole: number; readonly columns: number }

/** If two marks have the same position, the earlier one moves left, so that none is lost. Marks must be sorted. */
export function ruler(marks: readonly Mark[], { whole, columns }: Along): string {
  const cells: string[] = Array(columns).fill(' ')
  let next = columns - 1
  for (const { letter, value } of marks.toReversed()) {
    const place = Math.max(0, Math.min(next, Math.floor((value / whole) * columns)))
    cells[place] = letter
    next = place - 1
  }
  return cells.join('').trimEnd()
}
