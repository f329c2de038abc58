// The first frame, drawn before ink is loaded: a person sees the prompt at once, and what they type meanwhile is kept.
import { itemLines } from './draw/items.ts'
import { drawLive } from './draw/live.ts'
import type { TerminalOptions } from './options.ts'
import { sheetOf, withoutPrinted } from './state/state.ts'
import type { Store } from './store.ts'

export function drawFirstFrame(
  store: Store,
  { stdin, stdout }: Pick<TerminalOptions, 'stdin' | 'stdout'>,
): { readonly remove: () => void } {
  // Else the terminal itself would show what is typed.
  ;(stdin as Partial<NodeJS.ReadStream>).setRawMode?.(true)
  const state = store.get()
  const printed = state.items.flatMap((item) => (item ? itemLines(item, sheetOf(state)) : []))
  const { lines } = drawLive(state, Date.now())
  stdout.write([...printed, ...lines, ''].join('\n').replaceAll('\n', '\r\n'))
  store.update((before) => withoutPrinted(before, before.items.length))
  return { remove: () => stdout.write(`\u001b[${lines.length}A\r\u001b[J`) }
}
