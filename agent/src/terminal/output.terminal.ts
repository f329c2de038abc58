// Output of libraries while the screen is drawn goes to a log and not over the prompt.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keys } from './testing/keys.ts'
import { programs } from './testing/program.ts'

const start = programs()

test('a warning of the SDK is shown once as a notice, and the rest of the screen stays whole', async () => {
  const program = start({ data: { model: 'claude-sonnet-4-5' } })
  await program.shows('% left')
  for (const word of ['one', 'two']) {
    program.type(`say ${word}`)
    await program.shows(`› say ${word}`)
    program.type(keys.enter)
    await program.shows(new RegExp(`^${word}$`, 'm'))
    await program.hides('Esc to interrupt')
  }
  expect(program.everything().match(/is deprecated/g)).toHaveLength(1)
  expect(program.screen()).toMatch(/^· A library printed: The model 'claude-sonnet-4-5' is deprecated/m)
  expect(program.screen().match(/^─+$/gm)).toHaveLength(2)
})

test('output of both threads goes to the log of the session and not to the terminal', async () => {
  const program = start({ data: { isNoisy: true } })
  await program.shows('% left')
  program.type('print words')
  await program.shows('› print words')
  program.type(keys.enter)
  await program.shows('Printed words.')
  await program.hides('Esc to interrupt')
  program.type(keys.ctrlC)
  await program.shows('Press Ctrl+C again to quit')
  program.type(keys.ctrlC)
  expect(await program.ended).toBe(0)
  const sources = ['on stdout', 'on stderr', 'as a warning']
  const printed = ['words', 'noise'].flatMap((who) => sources.map((source) => `${who} ${source}`))
  const [log = ''] = globSync(join(program.home, 'projects/*/*/output.log'))
  const logged = readFileSync(log, 'utf8')
  expect(printed.filter((line) => !logged.includes(line))).toEqual([])
  // Each appears on the terminal only inside its notice.
  const raw = program.everything().replaceAll(/· A library printed:.*(?:\n {2}.*)*/g, '')
  expect(printed.filter((line) => raw.includes(line))).toEqual([])
})

test('Ctrl+L leaves no old prompt in the scrollback of a terminal that scrolls a cleared screen away', async () => {
  const program = start()
  program.terminal.options.scrollOnEraseInDisplay = true
  await program.shows('% left')
  program.type('some words')
  await program.shows('› some words')
  program.type('\u000c')
  await program.hides('/help shows the commands')
  await program.shows('› some words')
  expect(program.everything().match(/^› some words$/gm)).toHaveLength(1)
})
