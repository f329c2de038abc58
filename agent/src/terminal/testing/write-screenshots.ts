// Writes the pictures of docs/agent-terminal.md: runs the real program in a pseudo-terminal and draws its screen. Run it
// with Node from the root: node agent/src/terminal/testing/write-screenshots.ts
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { syntheticRepository, writeRepository } from '@everlong/simulator'
import { keys } from './keys.ts'
import { type Pty, startPty } from './pty.ts'
import { svgOf } from './svg.ts'

const titles = {
  'terminal-no-model': 'What the agent shows without a key',
  'terminal-permission-diff': 'The agent asks before it changes a file, and shows the diff',
  'terminal-answer': 'An answer, with folded tool calls and a diff',
  'terminal-receipt': 'The receipt of a compaction in one line',
  'terminal-receipt-expanded': 'The receipt in full',
  'terminal-work': 'Background tasks, and the output of a command that the person ran',
  'terminal-rewind': 'Going back asks what should go back',
  'terminal-context': 'The window as a picture',
  'terminal-config': 'The settings, each with its value and where it comes from',
  'terminal-code': 'Code in the colors of the terminal',
  'terminal-narrow': 'The list of commands in 40 columns',
} as const

const pictures = join(process.cwd(), 'docs/pictures')
const everlong = [process.execPath, join(process.cwd(), 'scripts/launch.mjs'), 'cli']
const root = mkdtempSync(join(tmpdir(), 'everlong-'))
const [folder, home] = [join(root, 'shop'), join(root, 'home')]
mkdirSync(pictures, { recursive: true })
for (const each of [folder, home]) mkdirSync(each)
writeRepository(syntheticRepository({ seed: 7, files: 60 }), folder)

try {
  await noModel()
  await working()
  await compacting()
  await daily()
  await narrow()
  await settings()
  await code()
} finally {
  rmSync(root, { recursive: true, force: true })
}

function start(words: readonly string[], size: { readonly columns: number; readonly rows: number }): Pty {
  return startPty({ ...size, command: [...everlong, ...words], cwd: root, env: { EVERLONG_HOME: home } })
}

function draw(name: keyof typeof titles, { terminal }: Pty): void {
  writeFileSync(
    join(pictures, `${name}.svg`),
    svgOf(terminal, { title: titles[name], clean: (text) => text.replaceAll(root, '~') }),
  )
  console.log(`docs/pictures/${name}.svg`)
}

async function noModel(): Promise<void> {
  const program = start(['agent', 'shop'], { columns: 80, rows: 20 })
  await program.ended
  draw('terminal-no-model', program)
}

async function working(): Promise<void> {
  const program = start(['agent', 'shop', '--model', 'demo'], { columns: 80, rows: 26 })
  await program.shows('% left')
  program.type('Make the tests pass, one failure at a time.\r')
  await allowUntil(program, /Edit src[^\n]*\n[\s\S]*Allow once/)
  draw('terminal-permission-diff', program)
  await allowUntil(program, 'The task is finished')
  await program.hides('Esc to interrupt')
  draw('terminal-answer', program)
  program.kill('SIGKILL')
  await program.ended
}

async function compacting(): Promise<void> {
  const program = start(['agent', 'shop', '--model', 'demo', '--permission-mode', 'allow'], { columns: 80, rows: 26 })
  await program.shows('% left')
  for (const turn of [1, 2, 3]) {
    program.type('Take the next failure.\r')
    await program.shows(new RegExp(`(The task is finished[^]*){${turn}}`), 'everything')
    await program.hides('Esc to interrupt')
  }
  program.type('/compact Keep the names of the failing tests.\r')
  await program.shows('● Compacted')
  await program.shows('(estimated)')
  draw('terminal-receipt', program)
  program.type(keys.ctrlO)
  await program.shows('What happened')
  await program.hides('Reading the transcript')
  draw('terminal-receipt-expanded', program)
  program.kill('SIGKILL')
  await program.ended
}

/** Answers questions with "allow" until the screen shows this. */
async function allowUntil(program: Pty, wanted: string | RegExp): Promise<void> {
  const isThere = () => (typeof wanted === 'string' ? program.screen().includes(wanted) : wanted.test(program.screen()))
  for (;;) {
    await program.shows(/Allow once|The task is finished/)
    if (isThere()) return
    const asked = /─\n([^\n]*)\n/.exec(program.screen().slice(program.screen().lastIndexOf('─\n')))?.[1] ?? ''
    program.type('y')
    await program.hides(`${asked}\n`)
  }
}

/** A command of the person, the background, the window, and going back. */
async function daily(): Promise<void> {
  const program = start(['agent', 'shop', '--model', 'demo', '--permission-mode', 'allow'], { columns: 80, rows: 26 })
  await program.shows('% left')
  program.type('Take the next failure.\r')
  await program.shows('The task is finished')
  await program.hides('Esc to interrupt')
  program.type('/context\r')
  await program.shows('system-prompt')
  draw('terminal-context', program)
  program.type('!echo Listening on port 3000; sleep 60\r')
  await program.shows('  Listening on port 3000')
  program.type(keys.ctrlB)
  await program.shows('1 in the background')
  program.type('/tasks\r')
  await program.shows('running for')
  draw('terminal-work', program)
  program.type(keys.escape)
  await program.hides('running for')
  program.type('/rewind\r')
  await program.shows('Go back to before which message?')
  program.type(keys.enter)
  await program.shows('What should go back?')
  draw('terminal-rewind', program)
  program.kill('SIGKILL')
  await program.ended
}

async function settings(): Promise<void> {
  const program = start(['agent', 'shop', '--model', 'demo'], { columns: 80, rows: 26 })
  await program.shows('% left')
  program.type('/config\r')
  await program.shows('permissions.mode: ask')
  draw('terminal-config', program)
  program.kill('SIGKILL')
  await program.ended
}

/** The model of the demo writes no code, so this is the program of the terminal's tests. */
async function code(): Promise<void> {
  const program = startPty({
    ...{ columns: 80, rows: 20, cwd: folder, env: { EVERLONG_HOME: home } },
    command: [process.execPath, fileURLToPath(new URL('./play.ts', import.meta.url)), JSON.stringify({ folder, home })],
  })
  await program.shows('% left')
  program.type('code 4\r')
  await program.shows('That is all.')
  await program.hides('Esc to interrupt')
  draw('terminal-code', program)
  program.kill('SIGKILL')
  await program.ended
}

async function narrow(): Promise<void> {
  const program = start(['agent', 'shop', '--model', 'demo'], { columns: 40, rows: 20 })
  await program.shows('% left')
  program.type('/')
  await program.shows('/compact')
  draw('terminal-narrow', program)
  program.kill('SIGKILL')
  await program.ended
}
