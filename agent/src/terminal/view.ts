// A view shows the state and takes input: the screen, or plain lines.
import type { Controller } from './controller.ts'
import type { TerminalOptions } from './options.ts'
import type { Store } from './store.ts'

export type View = (
  options: Pick<TerminalOptions, 'stdin' | 'stdout' | 'env' | 'folder'> & {
    readonly store: Store
    readonly controller: Controller
  },
) => { readonly redraw: () => void; readonly end: () => Promise<void> }
