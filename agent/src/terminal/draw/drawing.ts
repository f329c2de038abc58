// The drawing below the scrollback: lines, and the position of the cursor.

export type Drawing = {
  readonly lines: readonly string[]
  readonly cursor?: { readonly x: number; readonly y: number }
}
