// Bash: runs a command in the workspace, in the foreground with a timeout or in the background.
import { z } from 'zod'
import type { Access } from '../../permissions/decide.ts'
import type { Script } from '../../permissions/script.ts'
import type { Refusal, Sandbox, Sheltered } from '../../sandbox/sandbox.ts'
import type { AnyTool, ToolContext, ToolOutput } from '../../tool.ts'
import { failed, guardedTool, type Kit, outputPath } from '../kit.ts'
import { newTaskId, type Tasks } from '../tasks.ts'
import { createOutput, type Output } from './output.ts'
import { type ProcessEnd, type RunningProcess, startProcess } from './process.ts'
import { sandboxNote } from './sandbox-note.ts'

const defaultTimeoutMs = 120_000
const maxTimeoutMs = 600_000

const plainInput = z.object({
  command: z.string().min(1).max(100_000).describe('The command. Every command starts in the workspace folder.'),
  timeout: z.int().min(1).max(maxTimeoutMs).optional().describe('In milliseconds. Default: 120,000; at most 600,000.'),
  description: z.string().optional().describe('What it does, in five to ten words.'),
  run_in_background: z
    .boolean()
    .optional()
    .describe('Return at once. Read the output with TaskOutput, end it with TaskStop.'),
})

const input = plainInput.extend({
  outside_sandbox: z
    .boolean()
    .optional()
    .describe('Run it without the sandbox, if it cannot work in it. The user is asked.'),
})

type Input = z.infer<typeof input>

export type BashOptions = {
  readonly tasks: Tasks
  /** The running processes, which end with the program. */
  readonly running: Set<RunningProcess>
  readonly sandbox: Sandbox
}

const description =
  'Runs a shell command and returns its output and exit code. It has no terminal and no input. Processes that it leaves behind are ended: use run_in_background for servers. Prefer Read, Grep, Glob and Edit for files.'
const aboutSandbox =
  'Commands run in a sandbox without a question: they can read and change the workspace and temporary files, and nothing else of the user. Each has a network of its own; the user is asked about every host. Only a command that cannot work like this, such as a server that the user opens in a browser, needs outside_sandbox.'

export function bashTool(kit: Kit, options: BashOptions): AnyTool {
  const { sandbox } = options
  const hasSandbox = sandbox.mode !== 'off'
  return guardedTool<Input>(kit, {
    name: 'Bash',
    description: hasSandbox ? `${description} ${aboutSandbox}` : description,
    input: hasSandbox ? input : plainInput,
    endsOnAbort: true,
    plan: async (given, context) => {
      // Loaded with the first command, so that the agent starts faster.
      const { readScript } = await import('../../permissions/script.ts')
      const { command, description, run_in_background: isBackground = false } = given
      const script = readScript(command)
      const shelter = await shelterOf({ kit, sandbox, given, script, context })
      if (shelter.type === 'refused') return failed(shelter.why)
      const { sheltered, ...access } = shelter
      const running = { kit, given, context, ...options, ...(sheltered ? { sheltered } : {}) }
      return {
        access: { script, ...access },
        title: `Run ${firstLine(command)}`,
        ...(sheltered ? { cancel: () => void sheltered.end() } : {}),
        detail: { type: 'text', text: description === undefined ? command : `${command}\n\n# ${oneLine(description)}` },
        run: () => (isBackground ? runInBackground(running) : run({ ...running, maxMs: timeoutOf(given) })),
      }
    },
  })
}

type ShelterInput = {
  readonly kit: Kit
  readonly sandbox: Sandbox
  readonly given: Input
  readonly script: Script
  readonly context: ToolContext
}

type ShelterOf =
  | (Omit<Access & { readonly type: 'run' }, 'script'> & { readonly sheltered?: Sheltered })
  | { readonly type: 'refused'; readonly why: string }

/** Where the command runs, as far as permissions depend on it. */
async function shelterOf({ kit, sandbox, given, script, context }: ShelterInput): Promise<ShelterOf> {
  if (sandbox.mode !== 'off' && given.outside_sandbox === true) {
    const why = 'The settings permit no command outside the sandbox.'
    return sandbox.mode === 'required' ? { type: 'refused', why } : { type: 'run', sandbox: 'outside' }
  }
  const readable = kit.ownFolders(context.session)
  const shelter = await sandbox.shelter({ command: given.command, script, context, readable })
  if (shelter.type === 'refused') return shelter
  if (shelter.type === 'none') return { type: 'run' }
  const { sheltered, doubt } = shelter
  const { lossOf } = await import('../../permissions/losses.ts')
  const loss = sandbox.mode === 'ask' ? undefined : await lossOf(script, kit.workspace.realRoot)
  return {
    type: 'run',
    sheltered,
    ...(sandbox.mode === 'ask' ? {} : { sandbox: 'inside' }),
    ...(loss === undefined ? {} : { loss }),
    ...(doubt === undefined ? {} : { doubt }),
  }
}

function timeoutOf({ timeout = defaultTimeoutMs }: Input): number {
  return timeout
}

/** Runs a command that the person typed, without a question or a time limit. */
export function personCommand(
  kit: Kit,
  options: BashOptions,
): (command: string, context: ToolContext) => Promise<ToolOutput> {
  return (command, context) => run({ kit, given: { command }, context, ...options })
}

type Run = BashOptions & {
  readonly kit: Kit
  readonly given: Input
  readonly context: ToolContext
  /** Set if it runs in the sandbox. */
  readonly sheltered?: Sheltered
}
type StartedCommand = {
  readonly output: Output
  readonly child: RunningProcess
  readonly isFull: () => boolean
  /** Connections that the sandbox refused, after the command has ended. */
  readonly refused: () => readonly Refusal[]
}

function start({ kit, given, context, running, sheltered }: Run, onLine?: (line: string) => void): StartedCommand {
  let isFull = false
  const onFull = () => {
    isFull = true
    void child.stop()
  }
  const path = outputPath(kit, context)
  const output = createOutput({ redactor: kit.redactor, path, onFull, ...(onLine ? { onLine } : {}) })
  const env = sheltered?.environment ?? kit.environment
  const options = { cwd: kit.workspace.realRoot, env, onText: output.add }
  const child: RunningProcess = startProcess(sheltered?.program ?? given.command, options)
  let refused: readonly Refusal[] = []
  running.add(child)
  const ended = child.ended.then((end) => {
    refused = sheltered?.end() ?? []
    output.end()
    running.delete(child)
    return end
  })
  return { output, child: { ...child, ended }, isFull: () => isFull, refused: () => refused }
}

async function run(input: Run & { readonly maxMs?: number }): Promise<ToolOutput> {
  const { context, tasks, maxMs } = input
  const live = createLiveOutput(context)
  const started = start(input, live.add)
  const { output, child, isFull, refused } = started
  let stopped: string | undefined
  const stop = (why: string) => {
    stopped ??= why
    void child.stop()
  }
  const tooLong = () => stop(`The command was stopped: it ran longer than ${(maxMs ?? 0) / 1000} s.`)
  const timer = maxMs === undefined ? undefined : setTimeout(tooLong, maxMs)
  const abort = () => stop('The command was stopped by the user.')
  context.signal.addEventListener('abort', abort)
  const moved = Promise.withResolvers<'moved'>()
  const takeBack = tasks.offer(() => moved.resolve('moved'))
  const end = await Promise.race([child.ended, moved.promise])
  takeBack()
  live.end()
  clearTimeout(timer)
  context.signal.removeEventListener('abort', abort)
  if (end === 'moved') return movedToBackground(input, started)
  if (isFull()) stopped ??= 'The command was stopped: its output was too long.'
  const text = output.take()
  const note = input.sheltered ? sandboxNote({ text, refused: refused(), isFailed: end.code !== 0 }) : ''
  return resultOf(end, `${text}${note}`, stopped)
}

const shownLines = 5
const liveEveryMs = 200

/** Shows the newest lines of a running command, at a rate that a person can read. */
function createLiveOutput({ toolUseId, emit }: ToolContext) {
  let lines: readonly string[] = []
  let total = 0
  let timer: NodeJS.Timeout | undefined
  let isEnded = false
  const show = () => {
    timer = undefined
    emit({ type: 'tool-output', toolUseId, lines, total })
  }
  return {
    add: (line: string) => {
      if (isEnded) return
      lines = [...lines, line].slice(-shownLines)
      total++
      timer ??= setTimeout(show, liveEveryMs)
    },
    end: () => {
      isEnded = true
      clearTimeout(timer)
    },
  }
}

function resultOf({ code, problem, hadLeftovers }: ProcessEnd, text: string, stopped: string | undefined): ToolOutput {
  if (problem !== undefined) return failed(`The command could not be started: ${problem}`)
  const note =
    hadLeftovers && stopped === undefined
      ? '\n[Processes that it left running were ended. Use run_in_background to keep one.]'
      : ''
  const details = { exitCode: code, interrupted: stopped !== undefined }
  const shown = `${text === '' ? '(no output)' : text}${note}`
  if (stopped !== undefined) return failed(`${stopped} Output until then:\n${shown}`, details)
  if (code !== 0) return failed(`Exit code ${code ?? 'unknown'}\n${shown}`, details)
  return { content: shown, details }
}

/** It also has its own network. */
const onlyInside =
  'It runs in a sandbox of its own: a server in it can be reached by no other command and not by the user. Start servers with outside_sandbox: true.'

function runInBackground(input: Run): ToolOutput {
  const id = keepAsTask(input, start(input))
  const reach = input.sheltered ? ` ${onlyInside}` : ''
  return {
    content: `Started in the background as ${id}. You are told when it ends. TaskOutput returns its output, TaskStop ends it.${reach}`,
    details: { backgroundTaskId: id },
  }
}

function movedToBackground(input: Run, started: StartedCommand): ToolOutput {
  const text = started.output.take()
  const id = keepAsTask(input, started)
  return {
    content: `The user sent this command to the background as ${id}. It still runs. You are told when it ends. TaskOutput returns its output, TaskStop ends it. Output until now:\n${text === '' ? '(no output)' : text}`,
    details: { backgroundTaskId: id },
  }
}

/** Returns the id of the task. */
function keepAsTask({ given, context, tasks }: Run, { output, child }: StartedCommand): string {
  const id = newTaskId('bash')
  const title = given.description ?? firstLine(given.command)
  const ended = child.ended.then(({ code, problem }) =>
    problem === undefined ? `finished with exit code ${code ?? 'unknown'}` : `failed to start: ${problem}`,
  )
  const stop = async () => void (await child.stop())
  tasks.start({ id, title, take: output.take, recent: output.recent, stop, ended }, context.session)
  return id
}

/** Line breaks in a description could imitate the rest of the question. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function firstLine(command: string): string {
  const [line = ''] = command.trim().split('\n', 1)
  const isCut = line.length > 100 || command.trim().includes('\n')
  return isCut ? `${line.slice(0, 100).toWellFormed()} …` : line
}
