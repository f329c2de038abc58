// What is drawn below the scrollback: lines, and where the cursor is among them.

export type Drawing = {
  readonly lines: readonly string[]
  readonly cursor?: { readonly x: number; readonly y: number }
}
