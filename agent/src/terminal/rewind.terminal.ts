// /rewind in the real program: restores files and conversation, and the message returns to the input.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keys } from './testing/keys.ts'
import { programs } from './testing/program.ts'

const start = programs()

test('/rewind gives back files that tools and commands changed, and the message; /undo brings all of it again', async () => {
  const prepare = (folder: string) => writeFileSync(join(folder, 'a.txt'), 'old')
  const program = start({ prepare, data: { isReal: true, mode: 'allow' } })
  const at = (name: string) => join(program.folder, name)
  await program.shows('% left')
  program.type('say Hello.\r')
  await program.shows(/^Hello\.$/m)
  await program.hides('Esc to interrupt')
  const use = `use Bash ${JSON.stringify({ command: 'echo new > a.txt && echo b > b.txt' })}`
  program.type(`${use}; say Changed.\r`)
  await program.shows(/^Changed\.$/m)
  await program.hides('Esc to interrupt')
  program.type('/rewind\r')
  await program.shows('Go back to before which message?')
  program.type(keys.enter)
  await program.shows('2 files changed since then. What should go back?')
  program.type(keys.enter)
  await program.shows(/2 files:\n {2}changed back a\.txt\n {2}removed b\.txt/)
  await program.shows(/─\n› use Bash \{"command":"echo new > a\.txt/)
  expect([readFileSync(at('a.txt'), 'utf8'), existsSync(at('b.txt'))]).toEqual(['old', false])
  program.type(`${keys.escape}`)
  await program.shows('Press Esc again')
  program.type(`${keys.escape}`)
  await program.shows('Ask something')
  program.type('/undo\r')
  await program.shows(/2 files:\n {2}changed back a\.txt\n {2}restored b\.txt/)
  expect([readFileSync(at('a.txt'), 'utf8'), existsSync(at('b.txt'))]).toEqual(['new\n', true])
})
