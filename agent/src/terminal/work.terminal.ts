// How the agent shows its work with its real tools: commands of the person, background tasks, sub-agents, plans.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keys } from './testing/keys.ts'
import { type Program, type ProgramOptions, programs } from './testing/program.ts'

const start = programs()

async function working(options: ProgramOptions = {}): Promise<Program> {
  const prepare = (folder: string) => writeFileSync(join(folder, 'wait.sh'), waiting)
  const program = start({ prepare, ...options, data: { isReal: true, mode: 'allow', ...options.data } })
  await program.shows('% left')
  return program
}

/** Runs until the file `go` exists. */
const waiting = 'echo started; while [ ! -e go ]; do sleep 0.05; done; echo finished'
const wait = JSON.stringify({ command: 'sh wait.sh' })

test('!cmd runs at once, shows its output, and the model knows it', async () => {
  const program = await working({ data: { mode: 'ask' } })
  program.type('!echo $((6*7)); exit 3\r')
  await program.shows('✗ ! echo $((6*7)); exit 3 · Exit code 3\n    Exit code 3\n    42')
  program.type('/recall 42\r')
  await program.shows(/\$ echo \$\(\(6\*7\)\); exit 3 Exit code 3 42/)
  expect(program.everything()).not.toContain('Allow once')
})

test('Esc stops a !cmd and keeps what it has printed', async () => {
  const program = await working()
  program.type('!sh wait.sh\r')
  await program.shows(/○ ! sh wait.sh .*\n {2}started/)
  program.type(keys.escape)
  await program.shows(/✗ ! .*stopped by the user[\s\S]*\n {4}started/)
})

test('Ctrl+B sends a running command to the background; /tasks shows its output and stops it', async () => {
  const program = await working()
  program.type(`use Bash ${wait}; say It goes on.\r`)
  await program.shows(/○ Bash .*\n {2}started/)
  await program.shows('Ctrl+B to background')
  program.type(keys.ctrlB)
  await program.shows('● Bash sh wait.sh · in the background')
  await program.shows(/^It goes on\.$/m)
  await program.shows('1 in the background')
  program.type('/tasks\r')
  await program.shows('Background tasks')
  expect(program.screen()).toMatch(/› sh wait\.sh\n {4}running for \d+ s/)
  program.type(keys.enter)
  await program.shows('Show its output')
  program.type(keys.enter)
  await program.shows(/running for \d+ s\nstarted$/m)
  program.type('/tasks\r')
  await program.shows('Background tasks')
  program.type(keys.enter)
  await program.shows('Stop it')
  program.type(`${keys.down}${keys.enter}`)
  await program.shows('Stopped sh wait.sh')
  await program.hides('1 in the background')
})

test('a command in the background continues to its end, and the agent hears of it', async () => {
  const program = await working()
  program.type('!sh wait.sh && touch over\r')
  await program.shows('Ctrl+B to background')
  program.type(keys.ctrlB)
  await program.shows('1 in the background')
  writeFileSync(join(program.folder, 'go'), '')
  await program.hides('1 in the background')
  expect(existsSync(join(program.folder, 'over'))).toBe(true)
})

test('a sub-agent shows its task, its newest call, its tokens and its price', async () => {
  const program = await working()
  const prompt = `use Bash ${wait}`
  program.type(
    `use Task ${JSON.stringify({ description: 'Wait for it', subagent_type: 'general', prompt })}; say Ready.\r`,
  )
  await program.shows(/○ Task general: Wait for it · 1 call, \d[\d.]*k? tokens, \$0\.\d+, \d+ s\n {2}Bash sh wait.sh/)
  writeFileSync(join(program.folder, 'go'), '')
  await program.shows(/● Task general: Wait for it · 1 line, 1 call, \d[\d.]*k? tokens, \$0\.\d+/)
  await program.shows(/^Ready\.$/m)
})

test('a sub-agent goes to the background with Ctrl+B, and reports later', async () => {
  const program = await working()
  const prompt = `use Bash ${wait}`
  program.type(`use Task ${JSON.stringify({ description: 'Wait for it', prompt })}; say Meanwhile.\r`)
  await program.shows('Bash sh wait.sh')
  program.type(keys.ctrlB)
  await program.shows(/^Meanwhile\.$/m)
  writeFileSync(join(program.folder, 'go'), '')
  await program.hides('1 in the background')
  program.type('/tasks\r')
  await program.shows(/Wait for it\n {4}finished/)
})

test('a plan is shown as Markdown, and stays on the screen once it is approved', async () => {
  const program = await working({ data: { mode: 'plan' } })
  const plan = '# The plan\n\n1. **Read** it\n2. Change it'
  program.type(`use ExitPlanMode ${JSON.stringify({ plan })}\r`)
  await program.shows('carry out this plan')
  expect(program.screen()).toContain('  The plan\n\n  1. Read it\n  2. Change it')
  expect(program.screen()).toContain('› 1. Carry it out, and ask before each edit (y)')
  // The agent waits for the person, and does not claim to work.
  expect(program.screen()).not.toContain('Working')
  program.type('y')
  await program.shows(/● ExitPlanMode .*\n {4}The plan\n\s*\n {4}1\. Read it/)
})
