// Runs one shell command in a process group of its own, so that everything it started ends with it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { reasonOf } from '../../reason-of.ts'
import { descendants, sandboxedProcesses } from '../../sandbox/processes.ts'

export type ProcessOptions = {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Standard output and standard error, as they come. */
  readonly onText: (text: string) => void
}

export type ProcessEnd = {
  readonly code: number | undefined
  /** It could not be started. */
  readonly problem?: string
  /** Processes that it left running and that were ended. */
  readonly hadLeftovers: boolean
}

export type RunningProcess = {
  readonly ended: Promise<ProcessEnd>
  /** Ends the whole group: first asks, then kills. Resolves when it is gone. */
  readonly stop: () => Promise<ProcessEnd>
  /** At once, for when the program itself ends. */
  readonly kill: () => void
}

const canGroup = process.platform !== 'win32'
const patienceMs = 1_000
/** What a process wrote just before its end is still on its way. */
const lastWordsMs = 200

/** Runs a text for the shell, or a program with its arguments. */
export function startProcess(command: string | readonly string[], options: ProcessOptions): RunningProcess {
  const { cwd, env, onText } = options
  let child: ChildProcess
  try {
    const shell = existsSync('/bin/bash') ? '/bin/bash' : canGroup ? '/bin/sh' : true
    const [program = '', ...words] = typeof command === 'string' ? [command] : command
    child = spawn(program, words, {
      ...(typeof command === 'string' ? { shell } : {}),
      ...{ cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: canGroup },
    })
  } catch (error) {
    // For example a NUL character in the command.
    const problem = reasonOf(error)
    const ended = Promise.resolve({ code: undefined, problem, hadLeftovers: false })
    return { ended, stop: () => ended, kill: () => undefined }
  }
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onText)
  let isOver = false
  let killed: readonly number[] = []
  const ended = endOf(child).then(async (end) => {
    isOver = true
    // Those in a sandbox are ended by the system, a moment after it.
    for (let waited = 0; waited < patienceMs && killed.some(isAlive); waited += 20) await wait(20)
    return end
  })
  /** Once it is gone, the number may be another's. */
  const signal = (kind: NodeJS.Signals) => !isOver && signalGroup(child.pid, kind)
  const isSandboxed = typeof command !== 'string'
  const kill = () => {
    if (isSandboxed && !isOver && child.pid !== undefined) killed = killBelow(child.pid)
    signal('SIGKILL')
  }
  return {
    ended,
    stop: async () => {
      // A sandbox that gets the signal ends its processes without a word.
      if (!isSandboxed) signal('SIGTERM')
      else if (!tellSandboxed(child.pid)) kill()
      const timer = setTimeout(kill, patienceMs)
      const end = await ended
      clearTimeout(timer)
      return end
    },
    kill,
  }
}

function isAlive(pid: number): boolean {
  return signalOne(pid, 0)
}

/** False if it is gone. */
function signalOne(pid: number, kind: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, kind)
  } catch {
    return false
  }
}

/**
 * Kills what a sandbox has started, before itself: while it is being set up, its processes do not yet end with it. Stopped, it starts
 * no more of them.
 */
function killBelow(pid: number): readonly number[] {
  signalOne(pid, 'SIGSTOP')
  const below = descendants(pid)
  for (const each of below) signalOne(each, 'SIGKILL')
  return below
}

/** Asks the processes inside of a sandbox to end. False if there are none. */
function tellSandboxed(pid: number | undefined): boolean {
  const inside = pid === undefined ? [] : sandboxedProcesses(pid)
  for (const each of inside) signalOne(each, 'SIGTERM')
  return inside.length > 0
}

async function endOf(child: ChildProcess): Promise<ProcessEnd> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const exit = await new Promise<{ readonly code: number | undefined; readonly problem?: string }>((resolve) => {
    child.once('error', (error) => resolve({ code: undefined, problem: error.message }))
    child.once('exit', (code, signal) => resolve({ code: code ?? (signal ? 128 + (signals[signal] ?? 0) : undefined) }))
  })
  if (exit.problem !== undefined) return { ...exit, hadLeftovers: false }
  const hadLeftovers = signalGroup(child.pid, 0)
  if (hadLeftovers) await endLeftovers(child.pid)
  // A process outside the group may hold the pipes open for ever.
  await Promise.race([closed, wait(lastWordsMs)])
  child.stdout?.destroy()
  child.stderr?.destroy()
  return { ...exit, hadLeftovers }
}

async function endLeftovers(pid: number | undefined): Promise<void> {
  signalGroup(pid, 'SIGTERM')
  for (let waited = 0; waited < patienceMs && signalGroup(pid, 0); waited += 50) await wait(50)
  signalGroup(pid, 'SIGKILL')
}

const signals: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }

/** False if nobody of the group is there. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(canGroup ? -pid : pid, signal)
  } catch {
    return false
  }
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
