// Runs one hook command (JSON on stdin, a time limit, and a limit on the kept output) and interprets its exit code and output.
// Only a veto stops anything.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { defined, isObject, parseObject, stringAt } from '../../core/message/json.ts'
import type { HookCall, HookOutcome } from '../../core/ports/hooks.ts'
import type { AbortSignalPort } from '../../core/ports/model.ts'
import { headOf } from '../../core/text/cut.ts'
import { tolerating } from '../write/disk.ts'

export type CommandRun = {
  /** Undefined if it was killed or never started. */
  readonly exit: number | undefined
  readonly stdout: string
  readonly stderr: string
  readonly end: 'exited' | 'timed-out' | 'aborted' | 'not-started'
}

export type CommandOptions = {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly input: string
  readonly timeoutMs: number
  readonly signal?: AbortSignalPort | undefined
}

/** A hook cannot fill the memory. */
const maxBytes = 4 * 1024 * 1024

export function runCommand(command: string, options: CommandOptions): Promise<CommandRun> {
  const { input, timeoutMs, signal } = options
  return new Promise((resolve) => {
    const child = start(command, options)
    if (child instanceof Error) {
      resolve({ exit: undefined, stdout: '', stderr: child.message, end: 'not-started' })
      return
    }
    const out = createCollector()
    const err = createCollector()
    let end: CommandRun['end'] = 'exited'
    const finish = (exit: number | undefined) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      resolve({ exit, stdout: out.text(), stderr: err.text(), end })
    }
    const stop = (why: CommandRun['end']) => {
      end = why
      endGroup(child.pid)
      // A grandchild outside the process group may keep the pipes open.
      child.stdout.destroy()
      child.stderr.destroy()
      finish(undefined)
    }
    const abort = () => stop('aborted')
    const timer = setTimeout(() => stop('timed-out'), timeoutMs)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    child.stdout.on('data', out.add)
    child.stderr.on('data', err.add)
    child.on('error', (error) => {
      end = 'not-started'
      err.add(Buffer.from(error.message))
      finish(undefined)
    })
    child.on('close', (code) => finish(end === 'exited' ? (code ?? undefined) : undefined))
    // A command need not read its input.
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.end(input)
  })
}

const canGroup = process.platform !== 'win32'

function start(command: string, { cwd, env = process.env }: CommandOptions): ChildProcessWithoutNullStreams | Error {
  try {
    // Its own process group, so that everything it started is killed with it.
    return spawn(command, { shell: true, cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: canGroup })
  } catch (error) {
    // For example a NUL byte in the command or the environment.
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** It may already be gone. */
function endGroup(pid: number | undefined): void {
  if (pid !== undefined) tolerating(() => process.kill(canGroup ? -pid : pid, 'SIGKILL'))
}

function createCollector() {
  const chunks: Buffer[] = []
  let bytes = 0
  return {
    add: (chunk: Buffer) => {
      if (bytes < maxBytes) chunks.push(chunk)
      bytes += chunk.length
    },
    text: () => Buffer.concat(chunks).toString('utf8').slice(0, maxBytes),
  }
}

type PartialOutcome = Partial<HookOutcome>

type NamedRun = { readonly name: string; readonly run: CommandRun; readonly timeoutMs: number }

export function outcomeOf(event: HookCall['event'], { name, run, timeoutMs }: NamedRun): PartialOutcome {
  const problem = (text: string): PartialOutcome => ({ problems: [`${name}: ${text}`] })
  if (run.end === 'timed-out') return problem(`ended after ${timeoutMs / 1000} s without finishing`)
  if (run.end === 'aborted') return problem('ended because the compaction was aborted')
  if (run.end === 'not-started') return problem(`could not be started: ${run.stderr.trim()}`)
  if (run.exit === 2) return vetoOf(event, run.stderr.trim() || 'blocked by a hook', problem)
  if (run.exit !== 0)
    return problem(`exit code ${run.exit ?? 'unknown'}${run.stderr === '' ? '' : `: ${firstLine(run.stderr)}`}`)
  const text = run.stdout.trim()
  if (text === '') return {}
  if (text.includes('\u0000') || text.includes('\uFFFD')) return problem('its output is no text')
  return text.startsWith('{') ? fromJson(event, text, problem) : outcomeOfText(event, text)
}

const blockingEvents: readonly HookCall['event'][] = ['PreCompact', 'UserPromptSubmit', 'PreToolUse']
const contextEvents: readonly HookCall['event'][] = ['SessionStart', 'UserPromptSubmit']

function vetoOf(event: HookCall['event'], reason: string, problem: (text: string) => PartialOutcome): PartialOutcome {
  return blockingEvents.includes(event)
    ? { veto: reason }
    : problem(`wanted to block, which ${event} cannot: ${firstLine(reason)}`)
}

function outcomeOfText(event: HookCall['event'], text: string): PartialOutcome {
  if (event === 'PreCompact') return { instructions: [text] }
  return contextEvents.includes(event) ? { context: [text] } : { messages: [text] }
}

const saidFields = [
  'additionalContext',
  'newCustomInstructions',
  'userDisplayMessage',
  'summary',
  'permissionDecision',
  'permissionDecisionReason',
] as const

/** Unknown fields are fine; a known field with an invalid value is a problem. */
function fromJson(event: HookCall['event'], text: string, problem: (text: string) => PartialOutcome): PartialOutcome {
  const value = parseObject(text)
  if (value === undefined) return problem('its output begins like JSON and is none')
  const { decision, reason, hookSpecificOutput: said = {} } = value
  const isText = (field: unknown) => field === undefined || typeof field === 'string'
  const odd = (field: string) => problem(`its output is not understood: ${field}`)
  if (decision !== undefined && decision !== 'block' && decision !== 'approve') return odd('decision')
  if (!isText(reason)) return odd('reason')
  if (!isObject(said)) return odd('hookSpecificOutput')
  const wrong = saidFields.find((field) => !isText(said[field]))
  if (wrong !== undefined) return odd(`hookSpecificOutput.${wrong}`)
  const { updatedInput: input } = said
  if (input !== undefined && !isObject(input)) return odd('hookSpecificOutput.updatedInput')
  const isBefore = event === 'PreCompact'
  const summary = stringAt(said, 'summary')
  const part: PartialOutcome = {
    ...textList('instructions', isBefore ? stringAt(said, 'newCustomInstructions') : undefined),
    ...textList('context', stringAt(said, 'additionalContext')),
    ...textList('messages', stringAt(said, 'userDisplayMessage')),
    ...(isBefore && summary?.trim() ? { summary } : {}),
    ...(event === 'PreToolUse' ? defined({ input }) : {}),
  }
  const isDenied = event === 'PreToolUse' && said.permissionDecision === 'deny'
  if (decision !== 'block' && !isDenied) return part
  const why = stringAt(value, 'reason') ?? stringAt(said, 'permissionDecisionReason')
  return { ...part, ...vetoOf(event, why?.trim() || 'blocked by a hook', problem) }
}

function textList(key: 'instructions' | 'context' | 'messages', text: string | undefined): PartialOutcome {
  return text === undefined || text.trim() === '' ? {} : { [key]: [text.trim()] }
}

function firstLine(text: string): string {
  return headOf(text.trim().split('\n', 1)[0] ?? '', 300)
}

/** In the order of configuration. The first of several vetoes, summaries or inputs counts. */
export function mergeOutcomes(parts: readonly PartialOutcome[]): HookOutcome {
  const veto = parts.find((part) => part.veto !== undefined)?.veto
  const summary = parts.find((part) => part.summary !== undefined)?.summary
  const input = parts.find((part) => part.input !== undefined)?.input
  return {
    ...defined({ veto, summary, input }),
    instructions: parts.flatMap((part) => part.instructions ?? []),
    context: parts.flatMap((part) => part.context ?? []),
    messages: parts.flatMap((part) => part.messages ?? []),
    problems: parts.flatMap((part) => part.problems ?? []),
  }
}
