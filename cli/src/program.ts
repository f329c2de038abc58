// The tree of commands, and the way from a command line to an exit code: 0 fine, 1 something was wrong, 2 a wrong
// command line. Each command is loaded only when it is asked for, so that --help is quick.
import { Argument, Command, CommanderError, Option } from 'commander'
import packageFacts from '../package.json' with { type: 'json' }
import type { CompactOptions } from './commands/compact.ts'
import type { DemoOptions } from './commands/demo/demo.ts'
import type { MemoryOptions } from './commands/memory.ts'
import type { MicroOptions } from './commands/micro.ts'
import type { RecallOptions } from './commands/recall.ts'
import type { SimulateOptions } from './commands/simulate.ts'
import { addEditing } from './editing.ts'
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
import { oneLine, safeJson, visible } from './render/safe.ts'
import { foldedFor, type Screen, screenOf } from './render/screen.ts'
import type { WindowChoice } from './session.ts'
import type { Surroundings } from './surroundings.ts'

const exitCodes = { fine: 0, wrong: 1, usage: 2 } as const

export async function run(words: readonly string[], surroundings: Surroundings): Promise<number> {
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

/** Not expected: a fault of ours, or a file that changed while it was read. */
function faultMessage(error: unknown, { env }: Surroundings): string {
  if (env.EVERLONG_DEBUG && error instanceof Error) return error.stack ?? error.message
  const text = error instanceof Error ? error.message : String(error)
  return `this should not have happened: ${text}. EVERLONG_DEBUG=1 shows where; please report it.`
}

function complain(message: string, { stderr, env }: Surroundings): void {
  const lines = env.EVERLONG_DEBUG ? message.split('\n').map(visible) : [oneLine(message)]
  stderr.write(`everlong: ${lines.join('\n')}\n`)
}

type End = (exitCode: number) => void

/** Shows what a command came back with: its report as JSON or on a screen, complaints on stderr. */
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
    .description("Looks into coding agents' sessions: epochs, context, compactions, damage.")
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
  addShowing(program, { show, end }, surroundings)
  addLooking(program, show, surroundings)
  addMeasuring(program, show, surroundings)
  addReducing(program, show, surroundings)
  addEditing({ command: (name, words) => command(program, name, words).addArgument(transcript()), show, surroundings })
  addMending(program, show)
  addCompacting(program, show, surroundings)
  addNoting(program, show, surroundings)
  addRecalling(program, show, surroundings)
  addSimulating(program, show, surroundings)
  addServing(program, end, surroundings)
  for (const each of program.commands) {
    each.configureOutput({
      outputError: (text) => complain(usageMessage(text, `everlong ${each.name()}`), surroundings),
    })
  }
  return program
}

const examples = `Examples:
  everlong demo                       an agent and its context, live
  everlong tour                       a guided look at a made-up session
  everlong inspect session.jsonl      one screen about one session
  everlong context session.jsonl      what its context is made of
  everlong micro session.jsonl        what could leave the context
  everlong stats ~/.claude/projects   figures over all sessions
  everlong repair broken.jsonl --out mended.jsonl
  everlong compact session.jsonl      the context to go on with
  everlong recall session.jsonl migration --kind human
  everlong simulate --port 0          the Messages API, without a key

All but demo, tour and mcp have --json. NO_COLOR=1 turns colours off.
Exit codes: 0 fine, 1 something was wrong, 2 a wrong command line.`

/** Commander says "error: …" and sometimes a guess on a line of its own; we say one line and where to look. */
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

/** A command that says how full the window is, and so may be told which window. */
function measuring(program: Command, name: string, description: string): Command {
  return command(program, name, description)
    .addArgument(transcript())
    .option('--model <name>', 'count for this model (default: the model of the newest answer)')
    .option('--window <tokens>', 'take this as the context window', tokens)
}

function addShowing(
  program: Command,
  { show, end }: { readonly show: Show; readonly end: End },
  surroundings: Surroundings,
): void {
  program
    .command('demo')
    .description('watch an agent live through compactions, against a simulated model')
    .option('--fast', 'do not wait for a reader')
    .option('--folder <path>', 'keep the session there (default: a new temporary folder)')
    .action(async (options: DemoOptions) => {
      const { demo } = await import('./commands/demo/demo.ts')
      const outcome = await demo(options, surroundings)
      if (outcome.type === 'failed') complain(outcome.message, surroundings)
      end(outcome.type === 'failed' ? exitCodes.wrong : exitCodes.fine)
    })
  program
    .command('tour')
    .description('a guided look at a made-up session')
    .action(async () => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/tour.ts'),
        import('./commands/tour-screen.ts'),
      ])
      show(gather(surroundings), { render })
    })
}

function addLooking(program: Command, show: Show, surroundings: Surroundings): void {
  measuring(program, 'inspect', 'one screen: sizes, epochs, live window, problems').action(
    async (file: string, options: WindowOptions) => {
      const { gather, render } = await import('./commands/inspect.ts')
      show(gather(file, { ...options, surroundings }), { ...options, render })
    },
  )
  command(program, 'epochs', 'the stretches between compactions, as a table')
    .addArgument(transcript())
    .action(async (file: string, options: { json?: boolean }) => {
      const { gather, render } = await import('./commands/epochs.ts')
      show(gather(file, surroundings), { ...options, render })
    })
  command(program, 'tree', 'the conversation as a tree, one line a message')
    .addArgument(transcript())
    .option('--limit <lines>', 'show the last so many lines; 0 shows all', wholeNumber, 200)
    .action(async (file: string, options: { json?: boolean; limit: number }) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/tree.ts'),
        import('./commands/tree-screen.ts'),
      ])
      show(gather(file, { limit: options.limit, surroundings }), { ...options, render })
    })
}

function addMeasuring(program: Command, show: Show, surroundings: Surroundings): void {
  measuring(program, 'context', 'what the context is made of, and where the thresholds lie').action(
    async (file: string, options: WindowOptions) => {
      const { gather, render } = await import('./commands/context.ts')
      show(gather(file, { ...options, env: surroundings.env }), { ...options, render })
    },
  )
  measuring(program, 'explain', 'every window and threshold with its source, and when the next compaction comes')
    .option('--now <time>', 'as if it were then (default: now)', time)
    .action(async (file: string, options: WindowOptions & { now?: number }) => {
      const { gather, render } = await import('./commands/explain.ts')
      show(gather(file, { ...options, surroundings }), { ...options, render })
    })
  command(program, 'stats', 'figures over one session or thousands')
    .argument('<path...>', 'transcripts, or folders with transcripts anywhere below them')
    .action(async (paths: readonly string[], options: { json?: boolean }) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/stats.ts'),
        import('./commands/stats-screen.ts'),
      ])
      show(await gather(paths, surroundings), { ...options, render })
    })
}

function addReducing(program: Command, show: Show, surroundings: Surroundings): void {
  measuring(program, 'micro', 'what could leave the context without a model, and what that costs in cache')
    .option('--mechanism <name>', `only this one: ${mechanisms.join(', ')}; more than once for more`, mechanism)
    .option('--now <time>', 'as if it were then (default: now)', time)
    .option('--keep <number>', 'how many of the newest results stay', wholeNumber)
    .option('--target <tokens>', 'by size: so many tokens of results may stay', tokens)
    .option('--least <tokens>', 'by size: less than this is not worth it', tokens)
    .option('--always', 'by size: below the warning threshold too')
    .option('--turns <number>', 'how many requests are still to come', wholeNumber)
    .option('--recall', 'leave the id to recall each result by')
    .option('--apply', 'do what the first of them would do: append it to the file')
    .action(async (file: string, options: WindowOptions & MicroOptions) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/micro.ts'),
        import('./commands/micro-screen.ts'),
      ])
      show(await gather(file, { ...options, surroundings }), { ...options, render })
    })
  command(program, 'undo', 'take back the last action on a session; nothing is removed')
    .addArgument(transcript())
    .option('--edit <uuid>', 'this edit, undo or compaction instead; more than once for more', collected)
    .action(async (file: string, options: { json?: boolean; edit?: readonly string[] }) => {
      const { gather, render } = await import('./commands/undo.ts')
      show(await gather(file, { ...options, surroundings }), { ...options, render })
    })
}

function addMending(program: Command, show: Show): void {
  command(program, 'fsck', 'say what is wrong with a file; exit code 1 when there are errors')
    .addArgument(transcript())
    .action(async (file: string, options: { json?: boolean }) => {
      const { gather, render } = await import('./commands/fsck.ts')
      show(gather(file), { ...options, render })
    })
  command(program, 'repair', 'write a mended copy; the file itself is never touched')
    .addArgument(transcript())
    .requiredOption('--out <new>', 'required: where to write it; must not exist')
    .action(async (file: string, options: { json?: boolean; out: string }) => {
      const { gather, render } = await import('./commands/repair.ts')
      show(gather(file, options.out), { ...options, render })
    })
}

function addCompacting(program: Command, show: Show, surroundings: Surroundings): void {
  command(program, 'compact', 'make the context one would go on with; the file itself is never touched')
    .addArgument(transcript())
    .option('--before <uuid>', 'as of this entry; for a boundary: what its compaction had')
    .addOption(new Option('--from <uuid>', 'summarise from this message on, keep what is before it').conflicts('upTo'))
    .option('--up-to <uuid>', 'summarise what comes before this message, keep the rest')
    .option('--model <model>', `${modelForms} (default: offline)`, modelWords)
    .option('--instructions <text>', 'what the summary is to pay heed to')
    .option('--budget <tokens>', 'the new context has no more than this', tokens)
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--out <new>', 'write the compacted session there; must not exist')
    .action(async (file: string, options: CompactOptions) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/compact.ts'),
        import('./commands/compact-screen.ts'),
      ])
      show(await gather(file, { ...options, surroundings }), { ...options, render })
    })
}

function addNoting(program: Command, show: Show, surroundings: Surroundings): void {
  command(program, 'memory', 'the notes beside a session, or what they would be, made without a model')
    .addArgument(transcript())
    .option('--write', 'store notes that were made, beside the session')
    .action(async (file: string, options: MemoryOptions) => {
      const { gather, render } = await import('./commands/memory.ts')
      show(await gather(file, { ...options, surroundings }), { ...options, render })
    })
}

function addSimulating(program: Command, show: Show, surroundings: Surroundings): void {
  command(program, 'simulate', 'the Messages API on this machine, without a key')
    .option('--port <number>', 'where to listen; 0 takes any free port', portNumber, 8080)
    .option('--seed <number>', 'another seed, another story', wholeNumber, 1)
    .option('--window <tokens>', 'a context window for every model', tokens)
    .option('--overflow <shape>', `how an overflow is told: ${overflows.join(', ')}`, overflow)
    .action(async (options: SimulateOptions) => {
      const { simulate, render } = await import('./commands/simulate.ts')
      show(await simulate(options, surroundings), { ...options, render })
    })
}

function addRecalling(program: Command, show: Show, surroundings: Surroundings): void {
  command(program, 'recall', 'find what was said or read earlier, or read it again by its id')
    .argument('<path>', 'a transcript, or a folder with transcripts anywhere below it')
    .argument('[words...]', 'words, "phrases", prefix*, paths, identifiers')
    .option('--read <id>', 'read this instead of searching: an id from a card, a uuid, a tool use id')
    .option('--tool <name>', 'only calls of this tool and their results')
    .option('--path <path>', 'only calls that name this file or folder')
    .option('--kind <kind>', `only this kind: ${kinds.join(', ')}`, kind)
    .option('--epoch <number>', 'only this epoch', wholeNumber)
    .option('--since <time>', 'only from this time on', day)
    .option('--until <time>', 'only up to this time', day)
    .option('--newest', 'the newest first, not the best')
    .option('--limit <number>', 'how many at the most', wholeNumber, 10)
    .action(async (path: string, words: readonly string[], options: RecallOptions & { json?: boolean }) => {
      const { gather, render } = await import('./commands/recall.ts')
      show(gather(path, words, { ...options, surroundings }), { ...options, render })
    })
}

function addServing(program: Command, end: End, surroundings: Surroundings): void {
  program
    .command('mcp')
    .description('serve search and read to any agent, over MCP on stdin and stdout')
    .argument('<path>', 'a transcript, or a folder with transcripts anywhere below it')
    .action(async (path: string) => {
      const { serve } = await import('./commands/mcp.ts')
      const outcome = await serve({ path, version: packageFacts.version }, surroundings)
      if (outcome.type === 'failed') complain(outcome.message, surroundings)
      end(outcome.type === 'failed' ? exitCodes.wrong : exitCodes.fine)
    })
}
