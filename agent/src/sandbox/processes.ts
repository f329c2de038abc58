// The processes of a command in the sandbox, with the process ids of this system. Linux only; elsewhere they are in the command's
// group.
import { readdirSync, readFileSync } from 'node:fs'

/** Excludes the sandbox's own programs, which have fewer namespaces. */
const levelsOfSandbox = 2

/** The processes of the command itself. */
export function sandboxedProcesses(pid: number): readonly number[] {
  const own = numbersOf(process.pid).length
  return descendants(pid).filter((each) => {
    const numbers = numbersOf(each)
    // The first process of a namespace only waits for the others.
    return numbers.length >= own + levelsOfSandbox && numbers.at(-1) !== 1
  })
}

/** Includes the sandbox's own processes. */
export function descendants(pid: number): readonly number[] {
  if (process.platform !== 'linux') return []
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found = [pid]
  for (const each of found) found.push(...(children.get(each) ?? []))
  return found.slice(1)
}

function parentOf(pid: number): number | undefined {
  const parent = /^PPid:\s+(\d+)$/m.exec(statusOf(pid))?.[1]
  return parent === undefined ? undefined : Number(parent)
}

/** Its process id in each namespace, outermost first. */
function numbersOf(pid: number): readonly number[] {
  const line = /^NSpid:\s+(.*)$/m.exec(statusOf(pid))?.[1] ?? ''
  return line.split(/\s+/).filter(Boolean).map(Number)
}

/** Empty if it has ended. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}
