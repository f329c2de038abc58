// Runs the agent in a terminal until the person quits. Returns the exit code.

import { setTimeout } from 'node:timers/promises'
import { captureProcess } from './capture.ts'
import { type Controller, createController } from './controller.ts'
import { drawFirstFrame } from './first-frame.ts'
import { isSlashCommand } from './input/command-line.ts'
import { createHistory } from './input/history.ts'
import { keepCompiled } from './keep-compiled.ts'
import { lightenInk } from './light-ink.ts'
import type { TerminalOptions } from './options.ts'
import { createPlayer } from './player.ts'
import { createPrinted, type Printed } from './printed.ts'
import { applyEvent } from './state/apply-event.ts'
import { firstState, withItem } from './state/state.ts'
import { createStore, type Store } from './store.ts'

/** Also used if the terminal is too simple. */
export function wantsPlain({ env, stdin, stdout }: Pick<TerminalOptions, 'env' | 'stdin' | 'stdout'>): boolean {
  const canMove = stdout.isTTY === true && (stdin as Partial<NodeJS.ReadStream>).isTTY === true
  return !canMove || env.TERM === 'dumb' || (env.EVERLONG_PLAIN ?? '') !== ''
}

export async function runTerminal(options: TerminalOptions): Promise<number> {
  const store = createStore(firstState)
  const printed = createPrinted((text) =>
    store.update((state) => applyEvent(state, { type: 'notice', text }, Date.now())),
  )
  const { screen, release } = captureProcess(options.stdout, printed.add)
  try {
    return await runOn({ ...options, stdout: screen }, store, printed)
  } finally {
    release()
  }
}

async function runOn(options: TerminalOptions, store: Store, printed: Printed): Promise<number> {
  const { stdout, env, folder } = options
  const isPlain = options.isPlain ?? wantsPlain(options)
  const size = { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }
  const isColored = !isPlain && (stdout.hasColors?.(16, env) ?? false)
  store.update((state) => withItem({ ...state, size, isColored }, { type: 'welcome', folder }))
  const history = createHistory(options.historyFile, (text) =>
    store.update((state) => withItem(state, { type: 'notice', text })),
  )
  store.update((state) => ({ ...state, history: history.entries() }))
  const first = isPlain ? undefined : drawFirstFrame(store, options)
  const { worker, data } = options
  const suspend = async () => {
    if (process.platform === 'win32') return
    await show.end()
    process.kill(0, 'SIGTSTP')
    // Continues when the program is continued, or at once if no shell can continue it.
    await setTimeout(100)
    show = view.show({ ...options, store, controller })
  }
  const leave = async (run: () => Promise<void>) => {
    await show.end()
    try {
      await run()
    } finally {
      show = view.show({ ...options, store, controller })
    }
  }
  const redraw = () => show.redraw()
  const controller = createController({ worker, data, folder, store, history, printed, redraw, suspend, leave })
  const view = isPlain ? await import('./plain.ts') : await loadScreen()
  const stopListening = onSignals(controller)
  first?.remove()
  let show = view.show({ ...options, store, controller })
  void begin(options, controller, store)
  const exitCode = await controller.ended
  await show.end()
  stopListening()
  const { agent, hasSaid } = store.get()
  if (agent && hasSaid && options.leaving) stdout.write(`${options.leaving(agent.name ?? agent.sessionId)}\n`)
  return exitCode
}

/**
 * React reads NODE_ENV once, when it is loaded, and its development build is slower and leaks memory. Processes of the agent must
 * not inherit the setting; its thread already has its own copy of the environment.
 */
async function loadScreen() {
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  const undo = lightenInk()
  try {
    return await import('./screen.ts')
  } finally {
    undo()
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}

/** Runs automatically when the agent is ready. */
async function begin({ prompt, play }: TerminalOptions, controller: Controller, store: Store): Promise<void> {
  await controller.ready
  keepCompiled()
  if (play) {
    await play(createPlayer(store, controller))
    store.update((state) => ({ ...state, isPlaying: false }), 'now')
  }
  if (prompt === undefined) return
  if (isSlashCommand(prompt)) await controller.run({ type: 'command', line: prompt })
  else await controller.run({ type: 'submit', prompt: { text: prompt }, shown: prompt })
}

function onSignals(controller: Controller): () => void {
  const end = () => {
    // The terminal may be gone or belong to the shell again. Leaving raw mode then fails, which nobody needs to see.
    process.stdin.on('error', () => undefined)
    void controller.quit(143)
  }
  process.on('SIGTERM', end)
  process.on('SIGHUP', end)
  return () => {
    process.off('SIGTERM', end)
    process.off('SIGHUP', end)
  }
}
