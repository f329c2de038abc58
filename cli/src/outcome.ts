// The result of a command. Problems with files become one line with advice.

import { accessSync, constants, existsSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { visible } from '@everlong/agent/render'
import { ConfigurationError } from 'everlong'
import { diskProblem } from 'everlong/internal/node'
import { anyAgent } from './agent-names.ts'

export type Outcome<R> =
  | {
      readonly type: 'gathered'
      readonly report: R
      readonly exitCode: number
      /** Printed on stderr after the report. */
      readonly complaint?: string
      /** The screen would be empty: only --json prints the report. */
      readonly isBlank?: boolean
    }
  | Failure

export type Failure = { readonly type: 'failed'; readonly message: string }

export function gathered<R>(report: R, exitCode = 0): Outcome<R> {
  return { type: 'gathered', report, exitCode }
}

export function failed(message: string): Failure {
  return { type: 'failed', message }
}

/** Reads one file. Problems with the file or the settings become a failure. */
export function reading<R>(path: string, read: () => Outcome<R>): Outcome<R> {
  return expecting(path, () => {
    const trouble = troubleWith(path, statSync(path))
    if (trouble) return failed(trouble)
    accessSync(path, constants.R_OK)
    return read()
  })
}

/** Turns system errors and invalid settings into failures; other errors are bugs and are thrown. */
export function expecting<R>(path: string, attempt: () => Outcome<R>): Outcome<R> {
  return orTrouble(attempt, readTrouble(path))
}

/** The same for a file or folder to write. */
export function writing<R>(path: string, attempt: () => Outcome<R>): Outcome<R> {
  return orTrouble(attempt, (error) => writeTrouble(path, error))
}

/** Like `reading`, for asynchronous work. */
export async function opening<R>(path: string, open: () => Promise<Outcome<R>>): Promise<Outcome<R>> {
  const found = reading(path, () => gathered(undefined))
  if (found.type === 'failed') return found
  try {
    return await open()
  } catch (error) {
    return troubleOf(error, readTrouble(path))
  }
}

function orTrouble<R>(attempt: () => Outcome<R>, messageOf: MessageOf): Outcome<R> {
  try {
    return attempt()
  } catch (error) {
    return troubleOf(error, messageOf)
  }
}

type MessageOf = (error: unknown) => string | undefined

function troubleOf(error: unknown, messageOf: MessageOf): Failure {
  if (error instanceof ConfigurationError) return failed(error.message)
  const message = messageOf(error)
  if (message === undefined) throw error
  return failed(message)
}

function readTrouble(path: string): MessageOf {
  return (error) => (isMissing(path, error) ? notThere(path) : systemTrouble(path, error))
}

function isMissing(path: string, error: unknown): boolean {
  return isSystemError(error) && error.code === 'ENOENT' && (error.path ?? path) === path
}

function troubleWith(path: string, stats: Stats): string | undefined {
  const name = visible(path)
  if (stats.isDirectory())
    return `${name} is a folder, and this command takes one transcript. For a whole folder: everlong inspect ${name}`
  if (!stats.isFile()) return `${name} is not a regular file. Save its contents to a file first.`
  return undefined
}

/** A system error in plain words; undefined for other errors. */
export function systemTrouble(path: string, error: unknown): string | undefined {
  if (!isSystemError(error)) return undefined
  const { message } = diskProblem(error)
  return visible(error.path === undefined ? `${path}: ${message}` : message)
}

function writeTrouble(path: string, error: unknown): string | undefined {
  const name = visible(path)
  const trouble = systemTrouble(path, error)?.replace(`${name}: `, '')
  return trouble === undefined ? undefined : `${name} cannot be written: ${trouble}`
}

function isSystemError(error: unknown): error is Error & { readonly code: string; readonly path?: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
}

export function notThere(path: string): string {
  return `${visible(path)} does not exist. Claude Code keeps its sessions in ~/.claude/projects.`
}

/** Reports a file without a conversation as an error; its screen would show only zeros. */
export function orNoTranscript<R>(
  report: R,
  seen: { readonly path: string; readonly bytes: number; readonly isTranscript: boolean },
): Outcome<R> {
  if (seen.isTranscript) return gathered(report)
  return { type: 'gathered', report, exitCode: 1, complaint: noTranscript(seen.path, seen.bytes), isBlank: true }
}

export function noTranscript(path: string, bytes: number = statSync(path).size): string {
  const name = visible(path)
  if (bytes === 0) return `${name} is empty.`
  return `${name} does not look like a transcript: no entry of a conversation was found in it. It can be one of ${anyAgent}.`
}

export function noTranscripts(paths: readonly string[]): string {
  return `no transcripts (.jsonl) in ${paths.map(visible).join(', ')}. Claude Code keeps its sessions in ~/.claude/projects.`
}

/** Why a new file cannot be created there: its folder is missing. Undefined if it can. */
export function noPlaceFor(path: string): string | undefined {
  const folder = dirname(path)
  return existsSync(folder)
    ? undefined
    : `the folder ${visible(folder)} does not exist. Create it first, or choose another one.`
}

/** Why a port cannot be used; undefined for other errors. */
export function portTrouble(port: number, error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  if (error.code === 'EADDRINUSE') return `port ${port} is in use. Choose another, or --port 0 for any free one.`
  if (error.code === 'EACCES') return `port ${port} needs special rights. Choose one above 1024, or --port 0.`
  return undefined
}
