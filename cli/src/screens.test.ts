// The screens as people see them, without color at 80 columns, of one small session: readable in review.
// When one has changed on purpose: npm test -- cli/src/screens -u, then node scripts/make-documentation.ts.
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everlong, sessionFolder } from './testing/harness.ts'
import { sampleSession } from './testing/sample-session.ts'

const folder = sessionFolder()
const file = 'session.jsonl'
const previous = process.cwd()
// Screens show the path as it was typed, so it must be short and the same on every machine.
beforeAll(() => {
  folder.write(file, sampleSession())
  process.chdir(folder.path)
})
afterAll(() => {
  process.chdir(previous)
  folder.remove()
})

const screens: readonly (readonly [string, ...(readonly string[])])[] = [
  ['help', '--help'],
  ['inspect', 'inspect', file],
  ['epochs', 'epochs', file],
  ['context', 'context', file, '--window', '60000'],
  ['explain', 'explain', file, '--now', '2026-03-02T10:30:00Z'],
  ['micro', 'micro', file, '--now', '2026-03-02T10:30:00Z'],
  ['stats', 'stats', file],
  ['fsck', 'fsck', file],
  ['tree', 'tree', file, '--limit', '40'],
  ['compact', 'compact', file, '--dry-run'],
  ['memory', 'memory', file],
]

test.for(screens)('the screen of %s', async ([name, ...words]) => {
  const { exitCode, stdout, stderr } = await everlong(words)
  expect([exitCode, stderr]).toEqual([0, ''])
  await expect(stdout).toMatchFileSnapshot(`./screens/${name}.txt`)
})

test.for(screens)('no line of %s is wider than the screen it is made for', async ([, ...words]) => {
  for (const columns of [72, 80, 120]) {
    const { stdout } = await everlong(words, { isTTY: true, columns, env: { NO_COLOR: '1' } })
    const tooWide = stdout.split('\n').filter((line) => [...line].length > columns)
    expect({ columns, tooWide }).toEqual({ columns, tooWide: [] })
  }
})

test.for(screens)('%s fits a very narrow terminal, but for words that are longer than a line', async ([, ...words]) => {
  for (const columns of [20, 30, 39]) {
    const env = { TERM: 'xterm-256color' }
    const { exitCode, stdout, stderr } = await everlong(words, { isTTY: true, columns, env })
    const lines = stripVTControlCharacters(stdout).split('\n')
    const tooWide = lines.filter((line) => [...line].length > columns && line.slice(4).trim().includes(' '))
    expect({ columns, exitCode, stderr, tooWide }).toEqual({ columns, exitCode: 0, stderr: '', tooWide: [] })
  }
})
