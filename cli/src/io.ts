// The environment of a command: streams, variables, clock, signals. Tests pass in their own.
import type { Readable } from 'node:stream'
import type { Environment } from 'everlong'

export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  /** Terminals have it; it reads NO_COLOR, TERM and similar variables. */
  readonly hasColors?: (count: number, env: Environment) => boolean
}

export type Io = {
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Environment
  readonly cwd: string
  /** Runs `cleanUp` on Ctrl-C. Returns a function that unregisters it. */
  readonly onInterrupt?: (cleanUp: () => void) => () => void
  /** Resolves on SIGINT or SIGTERM, for commands that run until stopped. */
  readonly untilStopped?: () => Promise<void>
  /** Runs `stop` on SIGINT or SIGTERM instead of ending the process. Returns a function that unregisters it. */
  readonly onStop?: (stop: () => void) => () => void
  /** Ids of new entries. Default: random. */
  readonly newId?: () => string
  /** For the copy of a session in a database: undoes the change there. Returns the reason if it could not. */
  readonly undoInStore?: (path: string, uuid: string) => Promise<string | undefined>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Default: the machine's time zone. */
  readonly timeZone?: string
}
