// How reports and errors are printed, and the exit codes.
import { existsSync } from 'node:fs'
import { oneLine, safeJson, visible } from '@everlong/agent/render'
import type { Cli } from './command.ts'
import type { Io } from './io.ts'
import { foldedFor, screenOf } from './render/screen.ts'
import { shellWord } from './render/shell.ts'

export const exitCodes = { success: 0, failure: 1, usage: 2 } as const

/** Turns Commander's "error: …", with a suggestion on a second line, into one line that points to --help. */
export function usageMessage(text: string, command: string): string {
  const [, unknown = ''] = /^error: unknown command '(.+)'/.exec(text) ?? []
  if (existsSync(unknown))
    return `${visible(unknown)} is not a command. To look at it: everlong inspect ${shellWord(visible(unknown))}`
  const [message = '', ...suggestion] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n')
  const sentence = [message.replace(/\.$/, ''), ...suggestion].join(' ')
  return `${visible(sentence)}. See ${command} --help.`
}

export function createShow(io: Io, setExitCode: Cli['setExitCode']): Cli['show'] {
  return (outcome, { json, render }) => {
    if (outcome.type === 'failed') {
      printError(outcome.message, io)
      setExitCode(exitCodes.failure)
      return
    }
    const screen = () => (outcome.isBlank ? [] : foldedFor(io, render(outcome.report, screenOf(io))))
    const lines = json ? [safeJson(outcome.report)] : screen()
    if (lines.length > 0) io.stdout.write(`${lines.join('\n')}\n`)
    if (outcome.complaint !== undefined) printError(outcome.complaint, io)
    setExitCode(outcome.exitCode)
  }
}

/** A bug, or a file that changed while it was read. */
export function unexpectedError(error: unknown, { env }: Io): string {
  if (env.EVERLONG_DEBUG && error instanceof Error) return error.stack ?? error.message
  const text = error instanceof Error ? error.message : String(error)
  return `unexpected error: ${text}. Please report it; EVERLONG_DEBUG=1 shows the stack.`
}

export function printError(message: string, { stderr, env }: Io): void {
  const lines = env.EVERLONG_DEBUG ? message.split('\n').map(visible) : [oneLine(message)]
  stderr.write(`everlong: ${lines.join('\n')}\n`)
}
