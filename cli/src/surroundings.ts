// What the commands take from the world, handed in as one record so that tests can run them in process.
import type { Readable } from 'node:stream'
import type { Environment } from 'everlong'

export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  /** Terminals have it; it knows NO_COLOR, TERM and their kin. */
  readonly hasColors?: (count: number, env: Environment) => boolean
}

export type Surroundings = {
  /** Only a server reads it. */
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Environment
  readonly cwd: string
  /** Lets something be tidied up when the person presses Ctrl-C; returns how to take that back. */
  readonly onInterrupt?: (tidyUp: () => void) => () => void
  /** Resolves when a command that runs on is to end: Ctrl-C, or the system's word. */
  readonly untilStopped?: () => Promise<void>
  /** Ctrl-C, or the system's word: lets something end by itself. Returns how to take that back. */
  readonly onStop?: (stop: () => void) => () => void
  /** Ids for what is written; random ones when left out. */
  readonly newId?: () => string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** In which times are shown; the machine's own when left out. */
  readonly timeZone?: string
}
