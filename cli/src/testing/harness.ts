// Helpers for tests of the command line: running a command in process or through the launcher, and folders with sessions. Only
// for tests.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { WriteStream } from 'node:tty'
import type { Environment } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import { serialize } from 'everlong/internal/testing'
import type { Output } from '../io.ts'
import { run } from '../program.ts'

export const root = dirname(dirname(dirname(import.meta.dirname)))

export type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }

export type RunOptions = {
  readonly env?: Environment
  /** Default: empty. */
  readonly stdin?: string
  readonly isTTY?: boolean
  readonly columns?: number
  /** For commands that run until stopped: runs before the stop, with the output so far. */
  readonly meanwhile?: (stdout: string) => Promise<void>
  /** Called with the output; returns true to press Ctrl-C. */
  readonly stopsWhen?: (stdout: string) => boolean
  readonly newId?: () => string
  /** Default: a fixed clock. */
  readonly now?: () => number
}

/** Runs a command in process, in the time zone UTC. */
export async function everlong(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  let stop: (() => void) | undefined
  const { stopsWhen, newId } = options
  const stdout = collector(options, (text) => {
    if (stopsWhen?.(text)) stop?.()
  })
  const stderr = collector(options)
  const exitCode = await run(words, {
    stdin: Readable.from(options.stdin === undefined ? [] : [options.stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: options.env ?? {},
    cwd: root,
    now: options.now ?? (() => 0),
    timeZone: 'UTC',
    ...(newId ? { newId } : {}),
    onStop: (wanted) => {
      stop = wanted
      return () => {
        stop = undefined
      }
    },
    untilStopped: async () => {
      await setImmediate()
      await options.meanwhile?.(stdout.text())
    },
  })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

/** The report of a command that must succeed. */
export async function report<R = JsonObject>(...words: readonly string[]): Promise<R> {
  const { exitCode, stdout, stderr } = await everlong([...words, '--json'])
  if (exitCode !== 0) throw new Error(`everlong ${words.join(' ')} ended with ${exitCode}: ${stderr}`)
  return JSON.parse(stdout)
}

function collector(
  { isTTY = false, columns = 80 }: RunOptions,
  onWrite?: (text: string) => void,
): { readonly stream: Output; readonly text: () => string } {
  const chunks: string[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(String(chunk))
      onWrite?.(chunks.join(''))
      done()
    },
  })
  // Terminal colors according to the given environment.
  const { hasColors, getColorDepth } = WriteStream.prototype
  const terminal = isTTY ? { isTTY, columns, hasColors, getColorDepth } : {}
  return { stream: Object.assign(stream, terminal) as Output, text: () => chunks.join('') }
}

/** Runs the launcher as a person would. */
export function launch(words: readonly string[], env: Environment = {}): Ran {
  const { status, stdout, stderr } = spawnSync('sh', [join(root, 'everlong'), ...words], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, FORCE_COLOR: undefined, NODE_OPTIONS: undefined, TZ: 'UTC', ...env },
  })
  return { exitCode: status ?? -1, stdout, stderr }
}

export type SessionFolder = {
  readonly path: string
  /** Writes a session; returns its path. */
  readonly write: (name: string, records: readonly JsonObject[]) => string
  readonly writeBytes: (name: string, bytes: string | Uint8Array) => string
  readonly remove: () => void
}

export function sessionFolder(): SessionFolder {
  const path = mkdtempSync(join(tmpdir(), 'everlong-cli-'))
  const writeBytes = (name: string, bytes: string | Uint8Array) => {
    writeFileSync(join(path, name), bytes)
    return join(path, name)
  }
  return {
    path,
    write: (name, records) => writeBytes(name, records.map(serialize).join('')),
    writeBytes,
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}
