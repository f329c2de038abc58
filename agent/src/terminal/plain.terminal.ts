// Plain lines: for screen readers, simple terminals and pipes. No cursor movement, no colors, no spinners.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { programs } from './testing/program.ts'

const start = programs()
const root = mkdtempSync(join(tmpdir(), 'everlong-plain-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('questions are answered with a letter or a number, and nothing moves the cursor', async () => {
  const program = start({
    env: { EVERLONG_PLAIN: '1' },
    prepare: (folder) => writeFileSync(join(folder, 'a.txt'), 'old\n'),
  })
  await program.shows('/help shows the commands')
  program.type('call Write a.txt new; say It is done.\r')
  await program.shows('Permission: Write a.txt')
  await program.shows('    1 + new')
  program.type('n keep it\r')
  await program.shows('Denied: keep it', 'everything')
  await program.shows('It is done.')
  await program.shows(/Ready\. \d+ % left/)
  expect(readFileSync(join(program.folder, 'a.txt'), 'utf8')).toBe('old\n')
  program.type('call Ask; say Thanks\r')
  await program.shows('Question: Which color?')
  program.type('2\r')
  await program.shows('Question: Which sizes?')
  program.type('1,2\r')
  await program.shows(/^Thanks$/m)
  program.type('/details\r')
  await program.shows('Answers: [["Blue"],["Small","Large"]]')
  program.type('/quit\r')
  expect(await program.ended).toBe(0)
  expect(program.raw()).not.toContain('\u001b')
})

test('piped prompts are answered line by line, and the end of the input ends the program', async () => {
  const [folder, home] = [join(root, 'project'), join(root, 'home')]
  for (const each of [folder, home]) mkdirSync(each)
  const program = fileURLToPath(new URL('./testing/play.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify({ folder, home })])
  let output = ''
  child.stdout.on('data', (data) => {
    output += String(data)
  })
  child.stdin.end('say One.\nsay Two.\n')
  const [exitCode] = await once(child, 'close')
  expect([exitCode, output.includes('One.'), output.includes('Two.')]).toEqual([0, true, true])
  expect(output).not.toContain('\u001b')
})

test('piped lines run in order: a command waits for the prompt before it, and /quit for both', async () => {
  const [folder, home] = [join(root, 'ordered'), join(root, 'ordered-home')]
  for (const each of [folder, home]) mkdirSync(each)
  const program = fileURLToPath(new URL('./testing/play.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify({ folder, home })])
  let output = ''
  child.stdout.on('data', (data) => {
    output += String(data)
  })
  child.stdin.end('call Read none; say One.\n/details\n/context\nsay Two.\n/quit\nsay Three.\n')
  const [exitCode] = await once(child, 'close')
  expect(exitCode).toBe(0)
  expect(output.match(/^One\.$|"content": ""|% left of|^Two\.$|Three/gm)).toEqual([
    'One.',
    '"content": ""',
    '% left of',
    'Two.',
  ])
})

test('at the end of the input, a question that nobody can answer any more gets a no', async () => {
  const [folder, home] = [join(root, 'asking'), join(root, 'asking-home')]
  for (const each of [folder, home]) mkdirSync(each)
  writeFileSync(join(folder, 'a.txt'), 'old\n')
  const program = fileURLToPath(new URL('./testing/play.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify({ folder, home })])
  let output = ''
  child.stdout.on('data', (data) => {
    output += String(data)
  })
  child.stdin.end('call Write a.txt new; say It is done.\n')
  const [exitCode] = await once(child, 'close')
  expect([exitCode, output.includes('It is done.')]).toEqual([0, true])
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('old\n')
})
