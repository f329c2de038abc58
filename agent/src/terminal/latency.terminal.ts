// Typing never stalls: a compaction of 200,000 tokens does not block the terminal.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keys } from './testing/keys.ts'
import { programs } from './testing/program.ts'

const start = programs()

test('during an offline compaction of 200,000 tokens, the terminal is never busy for 50 ms', async () => {
  const program = start({ data: { window: 1_000_000, tokens: 200_000, isOffline: true } })
  await program.shows(/2\d\dk of|2\d\d,\d{3} of/)
  // The start ends when keys are answered; measuring begins then.
  program.type('x')
  await program.shows('› x')
  program.type('\u007f')
  await program.shows('Ask something')
  program.kill('SIGUSR2')
  program.type('/compact\r')
  await program.shows('› /compact')
  // Typed during the compaction.
  for (const letter of 'typing goes on') program.type(letter)
  await program.shows('› typing goes on')
  await program.shows(/● Compacted [\d,]+ → [\d,]+ tokens.*\(offline/)
  program.type(`${keys.escape}`)
  await program.shows('Press Esc again')
  program.type(`${keys.escape}`)
  await program.shows('Ask something')
  program.type('/quit\r')
  expect(await program.ended).toBe(0)
  const busiest = Number(readFileSync(join(program.home, 'busiest-ms'), 'utf8'))
  expect(busiest).toBeLessThan(50)
})
