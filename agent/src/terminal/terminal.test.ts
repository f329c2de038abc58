// The real program in a pseudo-terminal, once from the first screen to the last. The rest is in *.terminal.ts, which
// `npm run test:terminal` runs.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keys } from './testing/keys.ts'
import { programs } from './testing/program.ts'

const start = programs()

test('a person asks, allows a change, reads the answer, expands the call and quits', async () => {
  const program = start({ prepare: (folder) => writeFileSync(join(folder, 'a.txt'), 'old\n') })
  await program.shows('% left')
  program.type('call Write a.txt new; say # Done\\n\\nIt is **new** now.')
  program.type(keys.enter)
  await program.shows('Allow once')
  expect(program.screen()).toContain('Write a.txt\n  1   - old\n    1 + new\n')
  // The title follows the frame.
  await expect.poll(() => program.raw()).toContain('\u001b]2;? project · Everlong\u0007')
  program.type('y')
  await program.shows('Done\n\nIt is new now.')
  expect(readFileSync(join(program.folder, 'a.txt'), 'utf8')).toBe('new\n')
  await program.hides('Esc to interrupt')
  program.type(keys.ctrlO)
  await program.shows('Answer: allow.')
  program.type(keys.escape)
  await program.hides('Answer: allow.')
  program.type(keys.ctrlC)
  await program.shows('Press Ctrl+C again to quit')
  program.type(keys.ctrlC)
  expect(await program.ended).toBe(0)
  expect(program.raw()).toContain('\u001b]2;\u0007\u001b[23;2t')
  expect(program.screen().trimEnd()).toMatch(/\nLeft the session [\w-]+-[0-9a-f]{4}\.$/)
})
