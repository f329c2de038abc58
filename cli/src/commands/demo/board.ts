// Where the demonstration is shown: lines that stay, and on a terminal one more that is always the last and changes in
// place. Without a terminal there are only the lines that stay.
import { clearLine, cursorTo } from 'node:readline'
import type { Io } from '../../io.ts'
import { foldedFor, type Screen, screenOf } from '../../render/screen.ts'

export type Board = {
  readonly print: (lines: (screen: Screen) => readonly string[]) => void
  /** The last line; drawn for the columns there are, so that it never breaks. */
  readonly live: (line: (screen: Screen) => string) => void
  /** A person watches: things take their time. */
  readonly isLive: boolean
  readonly end: () => void
}

export function createBoard(io: Io): Board {
  const { stdout, env } = io
  const isLive = stdout.isTTY === true && env.TERM !== 'dumb'
  let last: ((screen: Screen) => string) | undefined
  let isBlank = true
  const wipe = () => {
    if (last === undefined) return
    cursorTo(stdout, 0)
    clearLine(stdout, 0)
  }
  const draw = () => {
    if (last === undefined) return
    const screen = screenOf(io)
    // A terminal writes ^C where the cursor is: that must not break the line either.
    const columns = Math.min(screen.width, stdout.columns ?? screen.width) - 3
    stdout.write(last({ ...screen, width: columns }))
  }
  return {
    isLive,
    print: (lines) => {
      wipe()
      for (const line of foldedFor(io, lines(screenOf(io)))) {
        // Everything keeps its distance; two distances are one.
        if (line !== '' || !isBlank) stdout.write(`${line}\n`)
        isBlank = line === ''
      }
      draw()
    },
    live: (line) => {
      if (!isLive) return
      wipe()
      last = line
      draw()
    },
    end: () => {
      wipe()
      last = undefined
    },
  }
}
