// A program in a pseudo-terminal, with its screen as a person would see it. Tests wait for content of the screen, never for a
// time.
import { setTimeout as sleep } from 'node:timers/promises'
import { type IPty, spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'

export type PtyOptions = {
  readonly command: readonly string[]
  readonly columns?: number
  readonly rows?: number
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

export type Pty = {
  readonly type: (keys: string) => void
  /** The lines of the screen, without trailing spaces. */
  readonly screen: () => string
  /** The screen and everything that has scrolled off it. */
  readonly everything: () => string
  /** Every byte of output, in order. */
  readonly raw: () => string
  readonly terminal: xterm.Terminal
  /** Waits until the screen shows this. Fails with the screen if it never does. */
  readonly shows: (wanted: string | RegExp, where?: 'screen' | 'everything') => Promise<void>
  readonly hides: (unwanted: string | RegExp) => Promise<void>
  readonly resize: (columns: number, rows: number) => void
  readonly kill: (signal: string) => void
  /** Resolves with the exit code. */
  readonly ended: Promise<number>
  readonly isAlive: () => boolean
}

/** Long, because a busy machine may be slow; a screen that is right ends the wait at once. */
const patienceMs = 60_000

export function startPty({ command, columns = 80, rows = 24, cwd, env = {} }: PtyOptions): Pty {
  const [file = '', ...args] = command
  const plain = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LANG: 'C.UTF-8', TERM: 'xterm-256color' }
  const child: IPty = spawn(file, args, { cols: columns, rows, cwd: cwd ?? process.cwd(), env: { ...plain, ...env } })
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  let raw = ''
  let isAlive = true
  child.onData((data) => {
    raw += data
    terminal.write(data)
  })
  // The terminal's answers to queries of the program.
  terminal.onData((data) => child.write(data))
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      isAlive = false
      resolve(signal ? 128 + signal : exitCode)
    })
  })
  const lines = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, at) => terminal.buffer.active.getLine(from + at)?.translateToString(true) ?? '',
    )
  const { active } = terminal.buffer
  const screen = () =>
    lines(active.baseY, active.baseY + terminal.rows)
      .join('\n')
      .trimEnd()
  const everything = () => lines(0, active.length).join('\n').trimEnd()
  const until = async (isRight: () => boolean, what: string) => {
    const deadline = Date.now() + patienceMs
    while (!isRight()) {
      if (Date.now() > deadline || !isAlive) {
        await sleep(50)
        if (isRight()) return
        throw new Error(`${what}${isAlive ? '' : ', and the program has ended'}. The screen is:\n${everything()}`)
      }
      await sleep(10)
    }
  }
  const has = (text: string, wanted: string | RegExp) =>
    typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)
  return {
    terminal,
    screen,
    everything,
    raw: () => raw,
    type: (keys) => child.write(keys),
    shows: (wanted, where = 'screen') =>
      until(() => has(where === 'screen' ? screen() : everything(), wanted), `The screen never showed ${wanted}`),
    hides: (unwanted) => until(() => !has(screen(), unwanted), `The screen never hid ${unwanted}`),
    resize: (width, height) => {
      child.resize(width, height)
      terminal.resize(width, height)
    },
    kill: (signal) => child.kill(signal),
    ended,
    isAlive: () => isAlive,
  }
}
