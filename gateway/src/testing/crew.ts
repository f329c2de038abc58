// Gateways in separate processes. A killed one is replaced.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

export type Crew = {
  /** Addresses of listening gateways, including paused ones. */
  readonly urls: () => readonly string[]
  /** Ends one at once. It is replaced. */
  readonly kill: (nth: number) => void
  /** Stops it for a while, like a virtual machine that is being moved. */
  readonly pause: (nth: number, ms: number) => void
  /** Events of all logs, counted. */
  readonly events: ReadonlyMap<string, number>
  /** Output of a gateway that is not a line of a log, or its unexpected end. */
  readonly problems: readonly string[]
  /** Asks all to stop, and waits until they have written everything. */
  readonly stop: () => Promise<void>
}

type Replica = { readonly child: ChildProcess; url: string | undefined; isResumed: Promise<void> }

export async function startCrew(size: number, config: object): Promise<Crew> {
  const running = new Set<Replica>()
  const events = new Map<string, number>()
  const problems: string[] = []
  let isStopping = false
  const hear = (line: string) => {
    try {
      const { event, reason } = JSON.parse(line) as { readonly event: string; readonly reason?: string }
      const name = reason === undefined ? event : `${event} ${reason}`
      events.set(name, (events.get(name) ?? 0) + 1)
    } catch {
      problems.push(`A gateway printed: ${line}`)
    }
  }
  const start = () => {
    const script = join(import.meta.dirname, 'replica.ts')
    const child = spawn(process.execPath, [script, JSON.stringify(config)], { stdio: ['ignore', 'pipe', 'pipe'] })
    const replica: Replica = { child, url: undefined, isResumed: Promise.resolve() }
    running.add(replica)
    createInterface({ input: child.stdout }).on('line', (line) => {
      replica.url = (JSON.parse(line) as { readonly url: string }).url
    })
    createInterface({ input: child.stderr }).on('line', hear)
    child.once('close', (code, signal) => {
      running.delete(replica)
      if (signal === 'SIGKILL' && !isStopping) start()
      // A gateway that was still starting when it was asked to stop has served nothing.
      else if (code !== 0 && !(isStopping && replica.url === undefined))
        problems.push(`A gateway ended with ${code ?? signal}.`)
    })
  }
  for (let at = 0; at < size; at++) start()
  const listening = () => [...running].filter(({ url }) => url !== undefined)
  while (listening().length < size && problems.length === 0) await pause(20)
  const chosen = (nth: number) => listening()[nth % Math.max(1, listening().length)]
  return {
    events,
    problems,
    urls: () => listening().map(({ url }) => url as string),
    kill: (nth) => void chosen(nth)?.child.kill('SIGKILL'),
    pause: (nth, ms) => {
      const replica = chosen(nth)
      if (!replica?.child.kill('SIGSTOP')) return
      replica.isResumed = pause(ms).then(() => void replica.child.kill('SIGCONT'))
    },
    stop: async () => {
      isStopping = true
      for (const replica of running) {
        await replica.isResumed
        replica.child.kill('SIGTERM')
      }
      while (running.size > 0) await pause(20)
    },
  }
}
