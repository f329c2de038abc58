// Options for running the agent in a terminal.
import type { Readable } from 'node:stream'
import type { Environment } from 'everlong'
import type { Play } from './player.ts'

export type TerminalOutput = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  readonly hasColors?: (count: number, env: Environment) => boolean
}

export type TerminalOptions = {
  /** A module that calls `serveInWorker`. The agent runs there in its own thread, so that typing never stalls. */
  readonly worker: URL
  /** For that module, as its `workerData`. */
  readonly data?: unknown
  /** The workspace. */
  readonly folder: string
  readonly stdin: Readable
  readonly stdout: TerminalOutput
  readonly env: Environment
  /** File for typed lines. Without it, only this run is remembered. */
  readonly historyFile?: string | undefined
  /** Plain lines: no cursor movement, no colors, no spinners. */
  readonly isPlain?: boolean
  /** Sent as soon as the agent is ready. A slash command is run. */
  readonly prompt?: string | undefined
  /** The last line after the screen is gone: how to continue the session. Not called for an empty session. */
  readonly leaving?: (sessionId: string) => string
  /** Types and announces by itself, then hands over to the person. */
  readonly play?: Play
}
