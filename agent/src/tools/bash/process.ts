// Runs one shell command in its own process group, so that everything it started ends with it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { reasonOf } from '../../reason-of.ts'
import { descendants, sandboxedProcesses } from '../../sandbox/processes.ts'

export type ProcessOptions = {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Standard output and standard error, as they arrive. */
  readonly onText: (text: string) => void
}

export type ProcessEnd = {
  readonly code: number | undefined
  /** Set if it could not be started. */
  readonly problem?: string
  /** True if it left processes running, which were ended. */
  readonly hadLeftovers: boolean
}

export type RunningProcess = {
  readonly ended: Promise<ProcessEnd>
  /** Ends the whole group: first terminates, then kills. Resolves when it is gone. */
  readonly stop: () => Promise<ProcessEnd>
  /** Kills it at once, for when the program itself ends. */
  readonly kill: () => void
}

const canGroup = process.platform !== 'win32'
const patienceMs = 1_000
/** Output from just before the end of a process may arrive this much later. */
const lastWordsMs = 200

/** Runs a shell command, or a program with arguments. */
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
    // The system ends the processes in a sandbox a moment later.
    for (let waited = 0; waited < patienceMs && killed.some(isAlive); waited += 20) await wait(20)
    return end
  })
  /** After the end, another process may have the same id. */
  const signal = (kind: NodeJS.Signals) => !isOver && signalGroup(child.pid, kind)
  const isSandboxed = typeof command !== 'string'
  const kill = () => {
    if (isSandboxed && !isOver && child.pid !== undefined) killed = killBelow(child.pid)
    signal('SIGKILL')
  }
  return {
    ended,
    stop: async () => {
      // A sandbox that gets the signal kills its processes without a warning.
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
 * Kills the processes of a sandbox before the sandbox itself, because they do not end with it while it is being set up. Stops it
 * first, so that it starts no more.
 */
function killBelow(pid: number): readonly number[] {
  signalOne(pid, 'SIGSTOP')
  const below = descendants(pid)
  for (const each of below) signalOne(each, 'SIGKILL')
  return below
}

/** Asks the processes inside a sandbox to end. False if there are none. */
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
  // A process outside the group may hold the pipes open forever.
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

/** False if the group has no process. */
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
