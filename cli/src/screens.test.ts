// The screens as people see them, without color at 80 columns, for the session that comes along: readable in review.
// When one has changed on purpose: npm test -- cli/src/screens -u, then node scripts/make-documentation.ts.
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { tourFile } from './commands/tour.ts'
import { everlong, root } from './testing/harness.ts'

const file = relative(root, tourFile)

const screens: readonly (readonly [string, ...(readonly string[])])[] = [
  ['help', '--help'],
  ['tour', 'tour'],
  ['inspect', 'inspect', file],
  ['epochs', 'epochs', file],
  ['context', 'context', file, '--window', '60000'],
  ['explain', 'explain', file, '--now', '2026-03-02T10:30:00Z'],
  ['micro', 'micro', file, '--now', '2026-03-02T10:30:00Z'],
  ['stats', 'stats', file],
  ['fsck', 'fsck', file],
  ['tree', 'tree', file, '--limit', '60'],
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

test("the tour is the same whatever the reader's own settings are", async () => {
  const env = { DISABLE_COMPACT: '1', CLAUDE_CODE_AUTO_COMPACT_WINDOW: '21000', EVERLONG_AUTOCOMPACT_PCT: 'half' }
  expect(await everlong(['tour'], { env })).toEqual(await everlong(['tour']))
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
