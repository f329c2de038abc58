// The title of the terminal's window, which says where the agent works and whether it waits for an answer, and the bell.
import { basename } from 'node:path'
import { oneLine } from '../render/safe.ts'
import { cut } from '../render/width.ts'
import type { TerminalOptions } from './options.ts'
import type { Store } from './store.ts'

const maxColumns = 60
/** The terminal saves its title and restores it. */
const save = '\u001b[22;2t'
const restore = '\u001b[23;2t'
const bell = '\u0007'
const titled = (title: string) => `\u001b]2;${title}\u0007`

type TitleOptions = Pick<TerminalOptions, 'stdout' | 'env' | 'folder'> & { readonly store: Store }

/** Returns a function that restores the title. */
export function showTitle({ store, stdout, env, folder }: TitleOptions): () => void {
  // The Linux console has no title.
  const hasTitle = stdout.isTTY === true && env.TERM !== 'linux'
  const project = `${cut(oneLine(basename(folder) || folder), maxColumns)} · Everlong`
  const write = (text: string) => hasTitle && stdout.write(text)
  let shown = ''
  let wasAsking = false
  const update = () => {
    const { asks, ringsBell } = store.get()
    const isAsking = asks.length > 0
    const title = isAsking ? `? ${project}` : project
    if (title !== shown) write(titled(title))
    if (isAsking && !wasAsking && ringsBell && stdout.isTTY === true) stdout.write(bell)
    shown = title
    wasAsking = isAsking
  }
  write(save)
  update()
  const stop = store.subscribe(update)
  return () => {
    stop()
    // A terminal that cannot save its title shows its own.
    write(`${titled('')}${restore}`)
  }
}
