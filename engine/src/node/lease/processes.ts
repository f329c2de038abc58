// Who a process is, so that another can tell for sure that it is gone. Never guesses: what cannot be known counts as alive.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

export type ProcessMark = {
  readonly pid: number
  readonly host: string
  /** This boot of this machine, and the space its process numbers are counted in. Where the system tells. */
  readonly machine?: string
  /** When the process began, in the system's ticks: a process number is used again, this pair is not. */
  readonly started?: string
}

export type Processes = {
  readonly self: () => ProcessMark
  /** True only when no process that the mark could stand for can ever run again. */
  readonly isDead: (mark: ProcessMark) => boolean
}

export const nodeProcesses: Processes = { self, isDead }

function self(): ProcessMark {
  const machine = machineName()
  const started = readProcess(process.pid)?.started
  return {
    pid: process.pid,
    host: hostname(),
    ...(machine === undefined ? {} : { machine }),
    ...(started === undefined ? {} : { started }),
  }
}

function isDead(mark: ProcessMark): boolean {
  if (mark.host !== hostname() || mark.machine !== machineName()) return false
  // 0 and below mean groups of processes to kill(2).
  if (!Number.isInteger(mark.pid) || mark.pid < 1) return false
  if (!answers(mark.pid)) return true
  const found = readProcess(mark.pid)
  if (found === undefined) return false
  // A killed process that its parent has not fetched yet still answers. In a container without an init it does for ever.
  if (found.state === 'Z' || found.state === 'X') return true
  return mark.started !== undefined && mark.started !== found.started
}

function answers(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

function readProcess(pid: number): { readonly state: string; readonly started: string } | undefined {
  const text = procFile(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (text === undefined) return undefined
  // The second field is the program's name in brackets, and may itself hold spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields[0], fields[19]]
  return state === undefined || started === undefined ? undefined : { state, started }
}

function machineName(): string | undefined {
  const boot = procFile(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const space = procFile(() => readlinkSync('/proc/self/ns/pid'))
  return boot === undefined || space === undefined ? undefined : `${boot} ${space}`
}

/** Undefined where there is no /proc, or it does not show this. */
function procFile(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
