// The first frame, drawn before ink is loaded: the prompt appears at once, and typed text is kept.
import { itemLines } from './draw/items.ts'
import { drawLive } from './draw/live.ts'
import type { TerminalOptions } from './options.ts'
import { sheetOf, withoutPrinted } from './state/state.ts'
import type { Store } from './store.ts'

export function drawFirstFrame(
  store: Store,
  { stdin, stdout }: Pick<TerminalOptions, 'stdin' | 'stdout'>,
): { readonly remove: () => void } {
  // Otherwise the terminal itself would echo typed text.
  ;(stdin as Partial<NodeJS.ReadStream>).setRawMode?.(true)
  const state = store.get()
  const printed = state.items.flatMap((item) => (item ? itemLines(item, sheetOf(state)) : []))
  const { lines } = drawLive(state, Date.now())
  stdout.write([...printed, ...lines, ''].join('\n').replaceAll('\n', '\r\n'))
  store.update((before) => withoutPrinted(before, before.items.length))
  return { remove: () => stdout.write(`\u001b[${lines.length}A\r\u001b[J`) }
}
