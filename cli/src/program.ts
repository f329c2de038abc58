// The commands, and the exit codes: 0 success, 1 failure, 2 usage error. Each command is loaded on demand, so that
// --help is quick.
import { oneLine, safeJson, visible } from '@everlong/agent/render'
import { Argument, Command, CommanderError, Option } from 'commander'
import packageFacts from '../package.json' with { type: 'json' }
import { addAgent } from './agent-options.ts'
import type { CompactOptions } from './commands/compact.ts'
import type { DemoOptions } from './commands/demo/demo.ts'
import type { MemoryOptions } from './commands/memory.ts'
import type { MicroOptions } from './commands/micro.ts'
import type { RecallOptions } from './commands/recall.ts'
import type { SimulateOptions } from './commands/simulate.ts'
import { addEditing } from './editing.ts'
import { addInstalling } from './installing.ts'
import { addLost } from './lost-command.ts'
import {
  collected,
  day,
  kind,
  kinds,
  mechanism,
  mechanisms,
  modelForms,
  modelWords,
  overflow,
  overflows,
  portNumber,
  time,
  tokens,
  wholeNumber,
} from './option-values.ts'
import type { Outcome } from './outcome.ts'
import { foldedFor, type Screen, screenOf } from './render/screen.ts'
import type { WindowChoice } from './session.ts'
import type { Surroundings } from './surroundings.ts'

const exitCodes = { fine: 0, wrong: 1, usage: 2 } as const

/** A store URL in place of a path stands for a session in a database. */
export async function run(words: readonly string[], surroundings: Surroundings): Promise<number> {
  if (!words.some((word) => /^postgres(ql)?:/.test(word))) return runHere(words, surroundings)
  const { withStores } = await import('./stores.ts')
  try {
    return await withStores(words, surroundings, runHere)
  } catch (error) {
    // Loaded late: the engine is large, and most commands are quick.
    const { StoreError } = await import('everlong')
    if (!(error instanceof StoreError)) throw error
    complain(error.message, surroundings)
    return exitCodes.wrong
  }
}

async function runHere(words: readonly string[], surroundings: Surroundings): Promise<number> {
  let exitCode: number = exitCodes.fine
  const program = createProgram(surroundings, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(words.length === 0 ? ['--help'] : words, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage
    complain(faultMessage(error, surroundings), surroundings)
    return exitCodes.wrong
  }
}

/** A bug of ours, or a file that changed while it was read. */
function faultMessage(error: unknown, { env }: Surroundings): string {
  if (env.EVERLONG_DEBUG && error instanceof Error) return error.stack ?? error.message
  const text = error instanceof Error ? error.message : String(error)
  return `unexpected error: ${text}. Please report it; EVERLONG_DEBUG=1 shows the stack.`
}

function complain(message: string, { stderr, env }: Surroundings): void {
  const lines = env.EVERLONG_DEBUG ? message.split('\n').map(visible) : [oneLine(message)]
  stderr.write(`everlong: ${lines.join('\n')}\n`)
}

type End = (exitCode: number) => void

/** Prints a command's report as JSON or as a screen, and errors on stderr. */
function createShow(surroundings: Surroundings, end: End) {
  return <R>(
    outcome: Outcome<R>,
    how: { readonly json?: boolean; readonly render: (report: R, screen: Screen) => readonly string[] },
  ): void => {
    if (outcome.type === 'failed') {
      complain(outcome.message, surroundings)
      end(exitCodes.wrong)
      return
    }
    const onScreen = () => (outcome.isBlank ? [] : how.render(outcome.report, screenOf(surroundings)))
    const lines = how.json ? [safeJson(outcome.report)] : onScreen()
    if (lines.length > 0) surroundings.stdout.write(`${foldedFor(surroundings, lines).join('\n')}\n`)
    if (outcome.complaint !== undefined) complain(outcome.complaint, surroundings)
    end(outcome.exitCode)
  }
}

type Show = ReturnType<typeof createShow>

function createProgram(surroundings: Surroundings, end: End): Command {
  const program = new Command('everlong')
    .description('Inspect, shrink, search and repair the sessions of coding agents.')
    .version(packageFacts.version, '-v, --version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', `\n${examples}`)
    .configureHelp({ minWidthToWrap: 20 })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.stdout.write(foldedFor(surroundings, text.split('\n')).join('\n')),
      writeErr: (text) => surroundings.stderr.write(text),
      outputError: (text) => complain(usageMessage(text, 'everlong'), surroundings),
      getOutHelpWidth: () => screenOf(surroundings).width,
    })
  const show = createShow(surroundings, end)
  addAgent(program, { end, surroundings })
  addShowing(program, end, surroundings)
  addLost({ command: (name, words) => command(program, name, words), show, surroundings })
  addLooking(program, show, surroundings)
  addMeasuring(program, show, surroundings)
  addReducing(program, show, surroundings)
  addEditing({ command: (name, words) => command(program, name, words).addArgument(transcript()), show, surroundings })
  addMending(program, show)
  addCopying(program, show)
  addCompacting(program, show, surroundings)
  addNoting(program, show, surroundings)
  addRecalling(program, show, surroundings)
  addSimulating(program, show, surroundings)
  addServing(program, end, surroundings)
  addInstalling({ command: (name, words) => command(program, name, words), show, surroundings })
  for (const each of program.commands) {
    each.configureOutput({
      outputError: (text) => complain(usageMessage(text, `everlong ${each.name()}`), surroundings),
    })
  }
  return program
}

const examples = `Examples:
  everlong agent                      work with an agent in a folder
  everlong demo                       watch an agent manage its context
  everlong lost                       what compactions have lost
  everlong inspect session.jsonl      an overview of one session
  everlong context session.jsonl      what fills its context
  everlong micro session.jsonl        what could be cleared
  everlong stats ~/.claude/projects   statistics over all sessions
  everlong repair broken.jsonl --out repaired.jsonl
  everlong compact session.jsonl      the context to continue with
  everlong recall session.jsonl migration --kind human
  everlong simulate --port 0          the Messages API, without a key

All but agent, demo and mcp have --json.
NO_COLOR=1 turns off colors.
Exit codes: 0 success, 1 failure, 2 usage error.`

/** Turns Commander's "error: …", with a suggestion on a second line, into one line that points to --help. */
function usageMessage(text: string, command: string): string {
  const [message = '', ...guess] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n')
  const sentence = [message.replace(/\.$/, ''), ...guess].join(' ')
  return `${visible(sentence)}. See ${command} --help.`
}

const transcript = () => new Argument('<file>', 'a transcript: .jsonl of Claude Code, pi or Codex')

function command(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).option('--json', 'print the report as JSON')
}

type WindowOptions = WindowChoice & { readonly json?: boolean }

/** A command that measures the context, so the model and the window can be set. */
function measuring(program: Command, name: string, description: string): Command {
  return command(program, name, description)
    .addArgument(transcript())
    .option('--model <name>', 'count for this model (default: the model of the newest answer)')
    .option('--window <tokens>', 'take this as the context window', tokens)
}

function addShowing(program: Command, end: End, surroundings: Surroundings): void {
  program
    .command('demo')
    .description('watch an agent go through compactions, against a simulated model')
    .option('--fast', 'no pauses for reading')
    .option('--folder <path>', 'keep the session in this folder (default: a temporary folder)')
    .action(async (options: DemoOptions) => {
      const { demoOnScreen, fitsScreen } = await import('./commands/demo/on-screen.ts')
      const run = fitsScreen(options, surroundings)
        ? demoOnScreen(options, surroundings)
        : (await import('./commands/demo/demo.ts')).demo(options, surroundings)
      const outcome = await run
      if (outcome.type === 'failed') complain(outcome.message, surroundings)
      end(outcome.type === 'failed' ? exitCodes.wrong : (outcome.report ?? exitCodes.fine))
    })
}

function addLooking(program: Command, show: Show, surroundings: Surroundings): void {
  measuring(program, 'inspect', 'show an overview: sizes, epochs, live window, problems').action(
    async (file: string, options: WindowOptions) => {
      const { gather, render } = await import('./commands/inspect.ts')
      show(gather(file, { ...options, surroundings }), { ...options, render })
    },
  )
  command(program, 'epochs', 'list the epochs, the parts between compactions')
    .addArgument(transcript())
    .action(async (file: string, options: { json?: boolean }) => {
      const { gather, render } = await import('./commands/epochs.ts')
      show(gather(file, surroundings), { ...options, render })
    })
  command(program, 'tree', 'show the conversation as a tree, one line per message')
    .addArgument(transcript())
    .option('--limit <lines>', 'show only the last lines; 0 shows all', wholeNumber, 200)
    .option('--ancestry <uuid>', 'show only what led to this entry, across all compactions')
    .action(async (file: string, options: { json?: boolean; limit: number; ancestry?: string }) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/tree.ts'),
        import('./commands/tree-screen.ts'),
      ])
      show(gather(file, { ...options, surroundings }), { ...options, render })
    })
}

function addMeasuring(program: Command, show: Show, surroundings: Surroundings): void {
  measuring(program, 'context', 'show what fills the context, and the thresholds').action(
    async (file: string, options: WindowOptions) => {
      const { gather, render } = await import('./commands/context.ts')
      show(gather(file, { ...options, env: surroundings.env }), { ...options, render })
    },
  )
  measuring(program, 'explain', 'explain every window and threshold, and forecast the next compaction')
    .option('--now <time>', 'pretend that it is this time (default: now)', time)
    .action(async (file: string, options: WindowOptions & { now?: number }) => {
      const { gather, render } = await import('./commands/explain.ts')
      show(gather(file, { ...options, surroundings }), { ...options, render })
    })
  command(program, 'stats', 'show statistics over one session or thousands')
    .argument('<path...>', 'transcripts, or folders that contain some')
    .action(async (paths: readonly string[], options: { json?: boolean }) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/stats.ts'),
        import('./commands/stats-screen.ts'),
      ])
      show(await gather(paths, surroundings), { ...options, render })
    })
}

function addReducing(program: Command, show: Show, surroundings: Surroundings): void {
  measuring(program, 'micro', 'show which tool results could be cleared, and whether it pays')
    .option('--mechanism <name>', `only this one: ${mechanisms.join(', ')}; repeatable`, mechanism)
    .option('--now <time>', 'pretend that it is this time (default: now)', time)
    .option('--keep <number>', 'keep this many of the newest results', wholeNumber)
    .option('--target <tokens>', 'by size: clear until this many tokens of results remain', tokens)
    .option('--least <tokens>', 'by size: clear at least this much, or nothing', tokens)
    .option('--always', 'by size: also below the warning threshold')
    .option('--turns <number>', 'expect this many more requests', wholeNumber)
    .option('--recall', 'mention the recall id in each placeholder')
    .option('--apply', 'append the first planned edit to the file')
    .action(async (file: string, options: WindowOptions & MicroOptions) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/micro.ts'),
        import('./commands/micro-screen.ts'),
      ])
      show(await gather(file, { ...options, surroundings }), { ...options, render })
    })
  command(program, 'undo', 'undo the last action on a session, by appending to it')
    .addArgument(transcript())
    .option('--edit <uuid>', 'undo this edit, undo or compaction instead; repeatable', collected)
    .action(async (file: string, options: { json?: boolean; edit?: readonly string[] }) => {
      const { gather, render } = await import('./commands/undo.ts')
      show(await gather(file, { ...options, surroundings }), { ...options, render })
    })
}

function addMending(program: Command, show: Show): void {
  command(program, 'fsck', 'check a file; exit code 1 if it has errors')
    .addArgument(transcript())
    .action(async (file: string, options: { json?: boolean }) => {
      const { gather, render } = await import('./commands/fsck.ts')
      show(gather(file), { ...options, render })
    })
  command(program, 'repair', 'write a repaired copy; the original is not changed')
    .addArgument(transcript())
    .requiredOption('--out <new>', 'required: the new file, which must not exist')
    .action(async (file: string, options: { json?: boolean; out: string }) => {
      const { gather, render } = await import('./commands/repair.ts')
      show(gather(file, options.out), { ...options, render })
    })
}

function addCopying(program: Command, show: Show): void {
  command(program, 'copy', 'copy sessions between folders and databases')
    .argument('<from>', 'a transcript, a folder of them, or a store URL')
    .argument('<to>', 'a folder, or a store URL')
    .action(async (from: string, to: string, options: { json?: boolean }) => {
      const { gather, render } = await import('./commands/copy.ts')
      show(await gather(from, to), { ...options, render })
    })
}

function addCompacting(program: Command, show: Show, surroundings: Surroundings): void {
  command(program, 'compact', 'build the context to continue with')
    .addArgument(transcript())
    .option('--before <uuid>', 'as of this entry; for a boundary, what its compaction was given')
    .addOption(new Option('--from <uuid>', 'summarize from this message on, keep what is before it').conflicts('upTo'))
    .option('--up-to <uuid>', 'summarize everything before this message, keep the rest')
    .option('--model <model>', `${modelForms} (default: offline)`, modelWords)
    .option('--instructions <text>', 'what the summary should focus on')
    .option('--budget <tokens>', 'the size limit of the new context', tokens)
    .option('--dry-run', 'show the plan and do nothing')
    .option('--out <new>', 'write the compacted session to this file, which must not exist')
    .addOption(new Option('--append', 'append the compaction to the session').conflicts(['out', 'before', 'dryRun']))
    .action(async (file: string, options: CompactOptions) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/compact.ts'),
        import('./commands/compact-screen.ts'),
      ])
      show(await gather(file, { ...options, surroundings }), { ...options, render })
    })
}

function addNoting(program: Command, show: Show, surroundings: Surroundings): void {
  command(program, 'memory', 'show the notes of session memory, or draft them without a model')
    .addArgument(transcript())
    .option('--write', 'save drafted notes next to the session')
    .action(async (file: string, options: MemoryOptions) => {
      const { gather, render } = await import('./commands/memory.ts')
      show(await gather(file, { ...options, surroundings }), { ...options, render })
    })
}

function addSimulating(program: Command, show: Show, surroundings: Surroundings): void {
  command(program, 'simulate', 'serve a simulated Messages API on this machine')
    .option('--port <number>', 'the port to listen on; 0 picks a free one', portNumber, 8080)
    .option('--seed <number>', 'the seed of the scripted agent', wholeNumber, 1)
    .option('--window <tokens>', 'the context window of every model', tokens)
    .option('--overflow <shape>', `the wording of overflow errors: ${overflows.join(', ')}`, overflow)
    .action(async (options: SimulateOptions) => {
      const { simulate, render } = await import('./commands/simulate.ts')
      show(await simulate(options, surroundings), { ...options, render })
    })
}

function addRecalling(program: Command, show: Show, surroundings: Surroundings): void {
  command(program, 'recall', 'search a transcript, or read a message or result by its id')
    .argument('<path>', 'a transcript, or a folder that contains some')
    .argument('[words...]', 'words, "phrases", prefix*, paths, identifiers')
    .option('--read <id>', 'read this instead of searching: an id from a search, a uuid, a tool use id')
    .option('--tool <name>', 'only calls of this tool and their results')
    .option('--path <path>', 'only calls that name this file or folder')
    .option('--kind <kind>', `only this kind: ${kinds.join(', ')}`, kind)
    .option('--epoch <number>', 'only this epoch', wholeNumber)
    .option('--since <time>', 'only from this time on', day)
    .option('--until <time>', 'only up to this time', day)
    .option('--newest', 'newest first instead of best first')
    .option('--limit <number>', 'the maximum number of matches', wholeNumber, 10)
    .action(async (path: string, words: readonly string[], options: RecallOptions & { json?: boolean }) => {
      const { gather, render } = await import('./commands/recall.ts')
      show(gather(path, words, { ...options, surroundings }), { ...options, render })
    })
}

function addServing(program: Command, end: End, surroundings: Surroundings): void {
  program
    .command('mcp')
    .description('serve search and read over MCP on stdin and stdout')
    .argument('<path>', 'a transcript, or a folder that contains some')
    .action(async (path: string) => {
      const { serve } = await import('./commands/mcp.ts')
      const outcome = await serve({ path, version: packageFacts.version }, surroundings)
      if (outcome.type === 'failed') complain(outcome.message, surroundings)
      end(outcome.type === 'failed' ? exitCodes.wrong : exitCodes.fine)
    })
}
