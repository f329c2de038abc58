// `npm start` in a pseudo-terminal: the demo plays by itself in the agent's own screen, then hands over the prompt.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Pty, startPty } from '@everlong/agent/terminal/testing'
import { afterEach, expect, test } from 'vitest'
import { wanted } from './acts.ts'
import { purposes } from './words.ts'

const main = join(import.meta.dirname, '../../main.ts')
const programs: Pty[] = []
const folders: string[] = []
afterEach(async () => {
  for (const program of programs.splice(0)) {
    if (program.isAlive()) program.kill('SIGKILL')
    await program.ended
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function startDemo(): Pty {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-demo-'))
  folders.push(folder)
  const program = startPty({ command: [process.execPath, main, 'demo', '--folder', folder], columns: 100, rows: 30 })
  programs.push(program)
  return program
}

test('every mechanism is shown, and said in a sentence', async () => {
  const program = startDemo()
  for (const act of wanted) {
    const words = act === 'trouble' ? '' : purposes[act].split(' ').slice(0, 6).join(' ')
    await program.shows(words, 'everything')
  }
  await program.shows('That was the demo. The prompt is yours.', 'everything')
  program.type('/quit\r')
  expect(await program.ended).toBe(0)
})

test('Esc takes over at any time', async () => {
  const program = startDemo()
  await program.shows('› Make the tests pass')
  program.type('x')
  await program.shows('Press Esc to take over')
  program.type('\u001b')
  await program.shows('The prompt is yours.', 'everything')
  program.type('\u0003')
  await program.shows('Press Ctrl+C again to quit')
  program.type('\u0003')
  expect(await program.ended).toBe(0)
})
