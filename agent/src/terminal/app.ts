// The terminal as ink components: the scrollback, and the lines below it.
import { Box, Static, type StaticProps, Text, useCursor, useInput, usePaste, useWindowSize } from 'ink'
import { createElement as h, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { loadColors, waitsForColors } from './draw/code.ts'
import { itemLines, markdownIn } from './draw/items.ts'
import { drawLive, statusOf } from './draw/live.ts'
import type { FrameEraser } from './frame-eraser.ts'
import { type Press, pressesOf } from './input/keys.ts'
import { type Item, sheetOf, type TerminalState, withoutPrinted } from './state/state.ts'
import type { Store } from './store.ts'

export type AppProps = {
  readonly store: Store
  readonly press: (key: Press) => void
  /** Fits the drawing below the scrollback to the terminal. */
  readonly fit: FrameEraser['fit']
}

export function App({ store, press, fit }: AppProps): ReactNode {
  const state = useColors(useSyncExternalStore(store.subscribe, store.get), store)
  const { columns, rows } = useWindowSize()
  useEffect(() => store.update((before) => ({ ...before, size: { columns, rows } }), 'now'), [store, columns, rows])
  // Printed items are no longer needed.
  const printed = state.items.length
  useEffect(() => store.update((before) => withoutPrinted(before, printed)), [store, printed])
  const now = useClock(statusOf(state, 0) !== undefined || state.running.length > 0)
  useInput((input, key) => {
    for (const each of pressesOf(input, key)) press(each)
  })
  usePaste((text) => press({ key: 'paste', text }))
  const { setCursorPosition } = useCursor()
  const isPrinting = state.items.some((item) => item !== undefined)
  const { lines, cursor } = fit({ ...drawLive({ ...state, size: { columns, rows } }, now), columns }, isPrinting)
  setCursorPosition(cursor)
  const sheet = sheetOf({ ...state, size: { columns, rows } })
  return h(
    Box,
    { flexDirection: 'column' },
    h(
      Static as typeof Static<Item | undefined>,
      { items: [...state.items] } as StaticProps<Item | undefined>,
      ((item: Item | undefined, at: number) =>
        h(Lines, { key: at, lines: item ? itemLines(item, sheet) : [] })) as unknown as ReactNode,
    ),
    h(Lines, { lines }),
  )
}

function Lines({ lines }: { readonly lines: readonly string[] }): ReactNode {
  // The lines of a drawing are identified only by position.
  const rows = lines.map((line, at) => h(Text, { key: at, wrap: 'truncate' }, line === '' ? ' ' : line))
  return h(Box, { flexDirection: 'column' }, ...rows)
}

/** What is printed cannot change any more, so items from the first one with code on are held back until its colors are loaded. */
function useColors(state: TerminalState, store: Store): TerminalState {
  const { items, answer, isColored } = state
  const first = isColored ? items.findIndex((item) => item !== undefined && waitsForColors(markdownIn(item))) : -1
  const isWaiting = first >= 0 || (isColored && waitsForColors(answer))
  useEffect(() => {
    if (isWaiting) void loadColors().then(() => store.update((before) => ({ ...before })))
  }, [isWaiting, store])
  return first < 0 ? state : { ...state, items: items.slice(0, first) }
}

const frameMs = 120

/** The time. It advances only during animations. */
function useClock(isRunning: boolean): number {
  const [, tick] = useState(0)
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => tick((count) => count + 1), frameMs)
    return () => clearInterval(timer)
  }, [isRunning])
  return Date.now()
}
