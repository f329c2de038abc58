// Terminals wrap lines when they become narrower. No part of an old frame may stay in tmux.
import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { PlayData } from './testing/play-worker.ts'
import { programs } from './testing/program.ts'

const start = programs()
const ready = '› Ask something'

/** Texts that occur once in every frame. */
function frameParts(text: string) {
  const lines = text.split('\n')
  return {
    rules: lines.filter((line) => /^─{20,}$/.test(line)).length,
    prompts: lines.filter((line) => /^› (?:Ask something|Type to queue)/.test(line)).length,
    gauges: lines.filter((line) => line.includes('% left')).length,
    states: lines.filter((line) => line.includes('Esc to interrupt')).length,
  }
}

const oneFrame = { rules: 2, prompts: 1, gauges: 1, states: 0 }
const widths = [100, 80, 79, 60, 110, 50]
/** Enough to fill the screen, so that the frame is at its bottom. */
const paragraphs = Array.from({ length: 25 }, (_, at) => `paragraph ${at + 1}`)

const hasTmux = spawnSync('tmux', ['-V']).status === 0

/** The program in its own tmux. */
async function inTmux(data: Partial<PlayData> = {}) {
  const server = `everlong-${randomUUID()}`
  const tmux = (...words: readonly string[]) => execFileSync('tmux', ['-L', server, ...words], { encoding: 'utf8' })
  onTestFinished(() => void spawnSync('tmux', ['-L', server, 'kill-server']))
  const { folder, home } = start()
  const play = fileURLToPath(new URL('./testing/play.ts', import.meta.url))
  const words = [process.execPath, play, JSON.stringify({ ...data, folder, home })].map((word) => `'${word}'`).join(' ')
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', '110', '-y', '40', '-c', folder, words)
  const screen = () => tmux('capture-pane', '-p', '-S', '-')
  const shows = async (wanted: string | RegExp) => {
    for (const end = Date.now() + 60_000; !screen().match(wanted); await sleep(50))
      if (Date.now() > end) throw new Error(`tmux never showed ${wanted}:\n${screen()}`)
  }
  const send = (prompt: string) => {
    tmux('send-keys', '-l', prompt)
    tmux('send-keys', 'Enter')
  }
  const type = (text: string) =>
    void tmux('send-keys', '-H', ...Array.from(Buffer.from(text), (byte) => byte.toString(16)))
  const resize = (columns: number) => tmux('resize-window', '-x', String(columns), '-y', '40')
  await shows(ready)
  return { screen, shows, send, type, resize }
}

test.skipIf(!hasTmux)('tmux that becomes narrower again and again keeps one frame and all text', async () => {
  const { screen, shows, send, resize } = await inTmux()
  send(`say ${paragraphs.join('\\n\\n')}`)
  await shows(/^paragraph 25$/m)
  await shows(ready)
  for (const columns of widths) {
    resize(columns)
    await shows(new RegExp(`^─{${columns}}\n› Ask.*\n─{${columns}}\n.*% left`, 'm'))
    await sleep(200)
    expect(frameParts(screen())).toEqual(oneFrame)
  }
  expect(screen().match(/^paragraph \d+$/gm)).toEqual(paragraphs)
})

test.skipIf(!hasTmux)('tmux that is resized while an answer streams keeps one frame and each line once', async () => {
  const { screen, shows, send, resize } = await inTmux({ eventMs: 50 })
  send(`say ${paragraphs.join('\\n\\n')}`)
  await shows(/^paragraph 25$/m)
  await shows(ready)
  send('list 90')
  await shows(/^ *15\. item 15 of/m)
  for (const columns of [90, 70, 60, 100, 110, 55]) {
    resize(columns)
    await shows(new RegExp(`^─{${columns}}\n› Type.*\n─{${columns}}\n.*% left`, 'm'))
    await sleep(300)
    expect(frameParts(screen())).toEqual({ ...oneFrame, states: 1 })
  }
  await shows(ready)
  expect(frameParts(screen())).toEqual(oneFrame)
  expect(screen().match(/^paragraph \d+$/gm)).toEqual(paragraphs)
  const listed = [...screen().matchAll(/^ *(\d+)\. item/gm)].map(([, item]) => Number(item))
  expect(listed).toEqual(Array.from({ length: 90 }, (_, at) => at + 1))
})

/** Full, with a prompt of three lines in the frame, which Ctrl+L draws again. */
async function cleared(write: (text: string) => void, shows: (wanted: string | RegExp) => Promise<void>) {
  write(`say ${paragraphs.join('\\n\\n')}\r`)
  await shows(/^paragraph 25$/m)
  await shows(ready)
  write('one\u001b\rtwo\u001b\rthree')
  await shows(/^ {2}three$/m)
  for (let nth = 0; nth < 3; nth++) {
    write('\u000c')
    await sleep(300)
  }
}

test.skipIf(!hasTmux)('Ctrl+L leaves one prompt in tmux, also in what has scrolled away', async () => {
  const { screen, shows, type } = await inTmux()
  await cleared(type, shows)
  expect(screen().match(/three/g)).toHaveLength(1)
  expect(frameParts(screen())).toEqual({ ...oneFrame, prompts: 0 })
})

test('Ctrl+L clears the screen and leaves one prompt, also in what has scrolled away', async () => {
  const program = start({ columns: 110, rows: 40 })
  await program.shows(ready)
  await cleared(program.type, program.shows)
  expect(program.screen().split('\n')[0]).toBe('')
  expect(program.screen()).not.toContain('paragraph')
  expect(program.everything().match(/three/g)).toHaveLength(1)
  expect(frameParts(program.everything())).toEqual({ ...oneFrame, prompts: 0 })
  expect(program.everything().match(/^paragraph 1$/gm)).toHaveLength(1)
})

test.each([
  ['tmux', async () => inTmux({ eventMs: 20 })],
  [
    'a terminal',
    async () => {
      const { type, shows, everything } = start({ columns: 110, rows: 40, data: { eventMs: 20 } })
      await shows(ready)
      return { type, shows, screen: everything }
    },
  ],
])('Ctrl+L while an answer streams leaves one prompt in %s, and each line once', async (name, open) => {
  if (name === 'tmux' && !hasTmux) return
  const { type, shows, screen } = await open()
  type('list 60\r')
  for (let item = 5; item <= 50; item += 5) {
    await shows(new RegExp(`^ *${item}\\. item ${item} of`, 'm'))
    type('\u000c\u000c')
  }
  await shows(ready)
  await sleep(300)
  expect(frameParts(screen())).toEqual(oneFrame)
})
