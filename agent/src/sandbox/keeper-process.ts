// Starts the keeper of the sandbox with the first command, and communicates with it.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KeeperAnswer, KeeperRequest, Policy } from './protocol.ts'

export type Wrapped =
  | { readonly type: 'wrapped'; readonly program: readonly string[]; readonly hasDenied: boolean }
  | { readonly type: 'not-wrapped'; readonly why: string }

export type Keeper = {
  /** Resolves to undefined when it is ready, or to the reason why no sandbox can start. */
  readonly ready: Promise<string | undefined>
  readonly wrap: (command: string, policy: Policy) => Promise<Wrapped>
  /** Call it once for each wrapped command. */
  readonly ended: () => void
  readonly close: () => Promise<void>
}

export type KeeperOptions = {
  readonly environment: Readonly<Record<string, string>>
  readonly onConnect: (host: string, port: number | undefined) => Promise<boolean>
}

const gone = 'its process has ended'

export function startKeeper({ environment, onConnect }: KeeperOptions): Keeper {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-sandbox-'))
  const child = fork(fileURLToPath(new URL('./keeper.ts', import.meta.url)), [], {
    cwd: folder,
    // The library gives commands this folder for temporary files.
    env: { ...environment, CLAUDE_CODE_TMPDIR: tmpdir() },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const waiting = new Map<number, (wrapped: Wrapped) => void>()
  let wraps = 0
  const ready = Promise.withResolvers<string | undefined>()
  const ended = Promise.withResolvers<void>()
  const tell = (request: KeeperRequest) => void (child.connected && child.send(request))
  const end = () => {
    ready.resolve(gone)
    for (const resolve of waiting.values()) resolve({ type: 'not-wrapped', why: gone })
    waiting.clear()
    ended.resolve()
  }
  child.once('exit', end)
  child.once('error', end)
  child.on('message', (answer: KeeperAnswer) => {
    switch (answer.type) {
      case 'started':
        ready.resolve(undefined)
        return
      case 'unavailable':
        ready.resolve(answer.why)
        return
      case 'connect': {
        const { id, host, port } = answer
        const reply = (isAllowed: boolean) => tell({ type: 'answer', id, isAllowed })
        onConnect(host, port).then(reply, () => reply(false))
        return
      }
      default:
        waiting.get(answer.id)?.(answer)
        waiting.delete(answer.id)
    }
  })
  tell({ type: 'start' })
  return {
    ready: holding(child, ready.promise),
    wrap: (command, policy) => {
      const answer = Promise.withResolvers<Wrapped>()
      if (!child.connected) answer.resolve({ type: 'not-wrapped', why: gone })
      const id = ++wraps
      waiting.set(id, answer.resolve)
      tell({ type: 'wrap', id, command, policy })
      return holding(child, answer.promise)
    },
    ended: () => tell({ type: 'ended' }),
    close: () => {
      tell({ type: 'close' })
      return holding(child, ended.promise)
    },
  }
}

/** Keeps the program running only while a caller waits. */
async function holding<T>(child: ChildProcess, answer: Promise<T>): Promise<T> {
  const held = (waitingFor.get(child) ?? 0) + 1
  waitingFor.set(child, held)
  child.ref()
  child.channel?.ref()
  try {
    return await answer
  } finally {
    const left = (waitingFor.get(child) ?? 1) - 1
    waitingFor.set(child, left)
    if (left === 0) letGo(child)
  }
}

const waitingFor = new WeakMap<ChildProcess, number>()

function letGo(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}
