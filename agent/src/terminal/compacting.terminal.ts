// Compactions in a pseudo-terminal: progress, Esc in each phase, the receipt in full, undo, and crashes.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { keys } from './testing/keys.ts'
import { type Program, type ProgramOptions, programs } from './testing/program.ts'

const start = programs()

/** A conversation with something to compact. */
async function filled(options: ProgramOptions = {}): Promise<Program> {
  const program = start(options)
  await program.shows('% left')
  const prompts = ['fill 3000 once', 'fill 3000 twice', 'say Never touch the generated files.']
  for (const [at, last] of ['Filled once.', 'Filled twice.', 'Never touch the generated files.'].entries()) {
    program.type(`${prompts[at]}\r`)
    await program.shows(new RegExp(`^${last}$`, 'm'))
    await program.hides('Esc to interrupt')
  }
  return program
}

const holding =
  (...names: readonly string[]) =>
  (folder: string) => {
    for (const name of names) writeFileSync(join(folder, name), '')
    const hook = (name: string) => [
      { hooks: [{ type: 'command', command: `while [ -e ${name} ]; do sleep 0.05; done` }] },
    ]
    const hooks = { PreCompact: hook('hold-before'), SessionStart: hook('hold-start'), PostCompact: hook('hold-after') }
    writeFileSync(join(folder, 'hooks.json'), JSON.stringify(hooks))
  }

test('a receipt says what happened and expands to all details, and undo reverses the compaction', async () => {
  const program = await filled()
  program.type('/compact Keep the rule.\r')
  await program.shows(/● Compacted [\d,]+ → [\d,]+ tokens/)
  program.type(keys.ctrlO)
  await program.shows('What happened')
  await program.shows(/Asked for by you, .*\n/)
  await program.shows('Price: ')
  const seen = await scrolledThrough(program)
  for (const part of [
    'Your instructions',
    'Keep the rule.',
    'Summary',
    'Checked by code',
    'Restored',
    'The original',
  ]) {
    expect(seen).toContain(part)
  }
  expect(seen.slice(seen.lastIndexOf('The original'))).toContain('say Never touch the generated files.')
  expect(seen).toContain('\n  fill 3000 once\n')
  program.type(keys.escape)
  await program.hides('Esc closes')
  program.type('/undo\r')
  await program.shows(/› \/undo\n\n.*(taken back|undone|back)/i)
})

async function scrolledThrough(program: Program): Promise<string> {
  await program.hides('Reading the transcript')
  let seen = program.screen()
  for (;;) {
    const before = program.screen()
    const place = /lines (\d+)–(\d+) of (\d+)/.exec(before)
    seen += `\n${before}`
    if (!place || place[2] === place[3]) return seen
    program.type(' ')
    await program.hides(`lines ${place[1]}–`)
  }
}

describe('Esc cancels a compaction and leaves the conversation as it was', () => {
  const phases = [
    { phase: 'running hooks', file: 'hold-before' },
    { phase: 'summarizing', file: 'hold-summary' },
    { phase: 'restoring context', file: 'hold-start' },
  ]
  for (const { phase, file } of phases) {
    test(`while it is ${phase}`, async () => {
      // Hooks also run when a session starts, so they are blocked only later.
      const program = await filled({ prepare: holding() })
      writeFileSync(join(program.folder, file), '')
      program.type('/compact\r')
      await program.shows(new RegExp(`Compacting.*: ${phase}`))
      program.type(keys.escape)
      await program.shows('Stopped. The conversation is as it was.')
      await program.hides('Compacting')
      rmSync(join(program.folder, file))
      program.type('say Still here.\r')
      await program.shows(/^Still here\.$/m)
    })
  }
})

test('Esc while the hooks after a compaction run leaves the compaction, which is written by then', async () => {
  const program = await filled({ prepare: holding('hold-after') })
  program.type('/compact\r')
  await program.shows(/Compacting.*: running hooks after it/)
  program.type(keys.escape)
  await program.shows(/● Compacted [\d,]+ → [\d,]+ tokens/)
})

test('after a kill -9 during a compaction, the session continues as if none had been started', async () => {
  const first = await filled({ prepare: holding('hold-summary') })
  first.type('/compact\r')
  await first.shows(/Compacting.*: summarizing/)
  first.kill('SIGKILL')
  await first.ended
  const { folder, home } = first
  rmSync(join(folder, 'hold-summary'))
  const second = start({ data: { folder, home, isContinued: true } })
  await second.shows(/^Never touch the generated files\.$/m)
  second.type('/compact\r')
  await second.shows(/● Compacted [\d,]+ → [\d,]+ tokens/)
})

test('after a kill -9 during a tool call, the session continues and says that the call was not finished', async () => {
  const first = start({ prepare: (folder) => writeFileSync(join(folder, 'hold'), '') })
  await first.shows('% left')
  first.type('call Slow hold; say Never\r')
  await first.shows('○ Slow hold')
  first.kill('SIGKILL')
  await first.ended
  const { folder, home } = first
  const second = start({ data: { folder, home, isContinued: true } })
  await second.shows('✗ Slow hold')
  expect(second.everything()).toContain('\n› call Slow hold; say Never\n')
  second.type('say Going on.\r')
  await second.shows(/^Going on\.$/m)
})
