// Runs one hook command: JSON on stdin, a deadline, and a limit on the output that is kept.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { AbortSignalPort } from '../../core/ports/model.ts'
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
    const out = gather()
    const err = gather()
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

function gather() {
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
