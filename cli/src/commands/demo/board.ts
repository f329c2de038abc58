// The output of the demonstration: permanent lines, and on a terminal one more line at the end that changes in place.
import { clearLine, cursorTo } from 'node:readline'
import type { Io } from '../../io.ts'
import { foldedFor, type Screen, screenOf } from '../../render/screen.ts'

export type Board = {
  readonly print: (lines: (screen: Screen) => readonly string[]) => void
  /** Draws the last line for the available columns, so that it never wraps. */
  readonly live: (line: (screen: Screen) => string) => void
  /** A person is watching, so the demonstration takes its time. */
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
    // A terminal prints ^C at the cursor, which must not wrap the line either.
    const columns = Math.min(screen.width, stdout.columns ?? screen.width) - 3
    stdout.write(last({ ...screen, width: columns }))
  }
  return {
    isLive,
    print: (lines) => {
      wipe()
      for (const line of foldedFor(io, lines(screenOf(io)))) {
        // Blocks are separated by one empty line, never two.
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
