// The list of commands, in groups. A command loads its code when it runs, so that --help is quick.
import { Command, CommanderError } from 'commander'
import packageFacts from '../package.json' with { type: 'json' }
import type { Cli } from './command.ts'
import { agentCommand } from './commands/agent.ts'
import { compactCommand } from './commands/compact.ts'
import { contextCommand } from './commands/context.ts'
import { copyCommand } from './commands/copy.ts'
import { demoCommand } from './commands/demo.ts'
import { editCommand } from './commands/edit.ts'
import { gatewayCommand } from './commands/gateway.ts'
import { handoffCommand } from './commands/handoff.ts'
import { initCommand } from './commands/init.ts'
import { inspectCommand } from './commands/inspect.ts'
import { installCommand, uninstallCommand } from './commands/install.ts'
import { lostCommand } from './commands/lost.ts'
import { mcpCommand } from './commands/mcp.ts'
import { memoryCommand } from './commands/memory.ts'
import { microCommand } from './commands/micro.ts'
import { pruneCommand } from './commands/prune.ts'
import { recallCommand } from './commands/recall.ts'
import { repairCommand } from './commands/repair.ts'
import { simulateCommand } from './commands/simulate.ts'
import { undoCommand } from './commands/undo.ts'
import { viewCommand } from './commands/view.ts'
import type { Io } from './io.ts'
import { createShow, exitCodes, printError, unexpectedError, usageMessage } from './output.ts'
import { foldedFor, screenOf } from './render/screen.ts'
import { isSealedPath } from './sealed.ts'

const groups: Readonly<Record<string, readonly ((cli: Cli) => Command)[]>> = {
  'Look at sessions:': [lostCommand, viewCommand, inspectCommand, contextCommand, recallCommand, memoryCommand],
  'Change sessions:': [
    compactCommand,
    handoffCommand,
    microCommand,
    editCommand,
    undoCommand,
    repairCommand,
    copyCommand,
    pruneCommand,
  ],
  'Run:': [agentCommand, gatewayCommand, demoCommand, simulateCommand, mcpCommand],
  'Install:': [initCommand, installCommand, uninstallCommand],
}

/** Commands of earlier versions. They still work and are not shown. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  epochs: ['inspect', '--epochs'],
  tree: ['inspect', '--tree'],
  stats: ['inspect', '--stats'],
  explain: ['context', '--explain'],
  fsck: ['repair'],
  snip: ['edit', 'snip'],
  rewind: ['edit', 'rewind'],
  pin: ['edit', 'pin'],
  unpin: ['edit', 'unpin'],
  status: ['install'],
}

const epilogue = `Examples:
  everlong lost                         what compactions lost
  everlong view                         the same in a browser
  everlong inspect session.jsonl        an overview of one session
  everlong inspect ~/.claude/projects   statistics over all sessions
  everlong context session.jsonl        what fills its context
  everlong recall session.jsonl migration --kind human
  everlong compact session.jsonl        the context to continue with
  everlong handoff session.jsonl        hand it over to another agent
  everlong agent                        a coding agent in this folder
  everlong init                         add it to a project
  everlong install claude-code          give back what compactions lose

All but view, agent, demo and mcp have --json.
NO_COLOR=1 turns off colors.
Exit codes: 0 success, 1 failure, 2 usage error.
More about a command: everlong COMMAND --help`

/** Runs a command line and returns its exit code. A store URL may take the place of a path, and sessions may be encrypted. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const isStored = (argument: string) => /^postgres(ql)?:/.test(argument) || isSealedPath(argument)
  // A gateway has the keys in its configuration.
  if (argv[0] === 'gateway' || !argv.slice(1).some(isStored)) return runCommand(argv, io)
  const { withStores } = await import('./stores.ts')
  try {
    return await withStores(argv, io, runCommand)
  } catch (error) {
    // Loaded late: the engine is large, and most commands are quick.
    const { StoreError } = await import('everlong')
    if (!(error instanceof StoreError)) throw error
    printError(error.message, io)
    return exitCodes.failure
  }
}

async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = exitCodes.success
  const setExitCode = (code: number) => {
    exitCode = code
  }
  const program = createProgram({ io, setExitCode, show: createShow(io, setExitCode) })
  try {
    await program.parseAsync(argv.length === 0 ? ['--help'] : currentNames(argv), { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage
    printError(unexpectedError(error, io), io)
    return exitCodes.failure
  }
}

/** `tree FILE` becomes `inspect --tree FILE`; `help tree` becomes `inspect --tree --help`. */
function currentNames([name = '', ...rest]: readonly string[]): readonly string[] {
  if (name === 'help') return [...(rest.length > 0 ? currentNames(rest) : []), '--help']
  return Object.hasOwn(aliases, name) ? [...(aliases[name] ?? []), ...rest] : [name, ...rest]
}

function createProgram(cli: Cli): Command {
  const { io } = cli
  const program = new Command('everlong')
    .enablePositionalOptions() // An option belongs to the command before it.
    .description('Inspect, shrink, search and repair the sessions of coding agents.')
    .usage('<command> [options]')
    .version(packageFacts.version, '-v, --version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .addHelpText('after', `\n${epilogue}`)
    .configureHelp({
      minWidthToWrap: 20,
      subcommandTerm: (command) => `${command.name()} ${argumentsOf(command)}`.trim(),
    })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(foldedFor(io, text.split('\n')).join('\n')),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text) => printError(usageMessage(text, 'everlong'), io),
      getOutHelpWidth: () => screenOf(io).width,
    })
  for (const [group, commands] of Object.entries(groups)) {
    for (const create of commands) add(program, create(cli).helpGroup(group), io)
  }
  return program
}

/** Subcommands inherit output, help and exit settings, which Commander copies only for commands that it creates itself. */
function add(parent: Command, command: Command, io: Io): void {
  command.copyInheritedSettings(parent).configureOutput({
    outputError: (text) => printError(usageMessage(text, fullName(command)), io),
  })
  if (command.parent === null) parent.addCommand(command)
  for (const subcommand of command.commands) add(command, subcommand, io)
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()
}

function argumentsOf(command: Command): string {
  return command.usage().replace(/^\[options\] ?/, '')
}
