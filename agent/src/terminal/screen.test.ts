import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Controller } from './controller.ts'
import { show } from './screen.ts'
import { firstState, withItem } from './state/state.ts'
import { createStore } from './store.ts'

/** The screen on a terminal that records what is written. */
function startScreen(env: Readonly<Record<string, string>>) {
  const written: string[] = []
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 110, rows: 40 })
  stdout.on('data', (data) => written.push(String(data)))
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  })
  const store = createStore(firstState)
  const controller = { press: () => undefined } as unknown as Controller
  const view = show({ store, controller, env, folder: '/work', stdin: stdin as never, stdout: stdout as never })
  onTestFinished(() => view.end())
  const text = () => written.join('')
  const shows = async (wanted: RegExp) => {
    for (const end = Date.now() + 30_000; !wanted.test(text()); await sleep(5))
      if (Date.now() > end) throw new Error(`The terminal never got ${wanted}: ${JSON.stringify(text())}`)
  }
  return { store, stdout, written, text, shows }
}

/** Node learns of a new size by this signal. */
function onSignal(heard: () => void): void {
  process.on('SIGWINCH', heard)
  onTestFinished(() => void process.off('SIGWINCH', heard))
}

test('an update after tmux has become narrower prints finished lines once and draws the frame for the new width', async () => {
  const { store, stdout, written, text, shows } = startScreen({ TMUX: 'yes' })
  await shows(/─{110}/)
  onSignal(() => {
    if (stdout.columns === 60) return
    stdout.columns = 60
    stdout.emit('resize')
  })
  await sleep(50)
  written.length = 0
  store.update((state) => withItem(state, { type: 'answer', text: 'a finished line' }), 'now')
  await shows(/─{60}[\s\S]*─{60}/)
  await sleep(50)
  // The cursor was in the third line: below an empty one and the rule, which has been wrapped.
  const [erased = '', drawn = ''] = text().split('a finished line')
  expect(erased).toBe('\r\u001b[3A\u001b[2K\u001b[B\u001b[J\u001b[A')
  expect(drawn).toMatch(/^[^─]*─{60}\n/)
  expect(text().match(/a finished line/g)).toHaveLength(1)
  expect(text()).not.toMatch(/─{61}/)
})

test('outside tmux, updates do not look at the size', async () => {
  const { store, text, shows } = startScreen({})
  await shows(/─{110}/)
  let looked = 0
  onSignal(() => looked++)
  store.update((state) => withItem(state, { type: 'answer', text: 'a finished line' }), 'now')
  await shows(/a finished line/)
  expect([looked, text().match(/a finished line/g)?.length]).toEqual([0, 1])
})
