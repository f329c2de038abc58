// Identifies a process so that another one can tell for sure that it is dead. Never guesses: if in doubt, it is alive.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { defined } from '../../core/message/json.ts'
import { tolerating } from '../write/disk.ts'

export type ProcessMark = {
  readonly pid: number
  readonly host: string
  /** Boot id and pid namespace, on Linux. */
  readonly machine?: string
  /** Start time in clock ticks: pids are reused, this pair is not. */
  readonly started?: string
}

export const nodeProcesses = { self, isDead }

function self(): ProcessMark {
  const machine = machineName()
  const started = readProcess(process.pid)?.started
  return { pid: process.pid, host: hostname(), ...defined({ machine, started }) }
}

/** True only if the process can never run again. */
function isDead(mark: ProcessMark): boolean {
  if (mark.host !== hostname() || mark.machine !== machineName()) return false
  // kill(2) takes 0 and below as process groups.
  if (!Number.isInteger(mark.pid) || mark.pid < 1) return false
  if (!answers(mark.pid)) return true
  const found = readProcess(mark.pid)
  if (found === undefined) return false
  // A zombie still answers kill(2); in a container without an init it does so forever.
  if (found.state === 'Z' || found.state === 'X') return true
  return mark.started !== undefined && mark.started !== found.started
}

function answers(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: it exists but belongs to another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

function readProcess(pid: number): { readonly state: string; readonly started: string } | undefined {
  const text = tolerating(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (text === undefined) return undefined
  // The second field, the program name in parentheses, may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields[0], fields[19]]
  return state === undefined || started === undefined ? undefined : { state, started }
}

function machineName(): string | undefined {
  const boot = tolerating(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const space = tolerating(() => readlinkSync('/proc/self/ns/pid'))
  return boot === undefined || space === undefined ? undefined : `${boot} ${space}`
}
