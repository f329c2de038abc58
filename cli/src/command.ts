// The context of a command definition, and shared arguments and options. Loads no engine, so that --help is fast.

import { Argument, Command } from 'commander'
import { anyAgent } from './agent-names.ts'
import type { Io } from './io.ts'
import { tokens } from './option-values.ts'
import type { Outcome } from './outcome.ts'
import type { Screen } from './render/screen.ts'

export type Cli = {
  readonly io: Io
  /** Prints the report as JSON or as a screen, or the error, and sets the exit code. */
  readonly show: <R>(
    outcome: Outcome<R>,
    how: { readonly json?: boolean; readonly render: (report: R, screen: Screen) => readonly string[] },
  ) => void
  readonly setExitCode: (exitCode: number) => void
}

export type JsonOption = { readonly json?: boolean }

export function transcript(): Argument {
  return new Argument('<file>', `a transcript of ${anyAgent}`)
}

/** A command with a report, which --json prints. */
export function reportCommand(name: string, description: string): Command {
  return new Command(name).description(description).option('--json', 'print the report as JSON')
}

/** The options of commands that measure the context. */
export function windowOptions(command: Command): Command {
  return command
    .option('--model <name>', 'count for this model (default: the model of the newest answer)')
    .option('--window <tokens>', 'take this as the context window', tokens)
}
