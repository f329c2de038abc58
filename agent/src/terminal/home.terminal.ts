// For people who come from other agents: custom commands and agents, names of sessions, the editor, a status line.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keys } from './testing/keys.ts'
import { type Program, type ProgramOptions, programs } from './testing/program.ts'

const start = programs()

async function ready(options: ProgramOptions = {}): Promise<Program> {
  const program = start({ ...options, data: { isReal: true, ...options.data } })
  await program.shows('% left')
  return program
}

function put(folder: string, path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}

test('a command of the project is offered, completed, and sent as a prompt', async () => {
  const program = await ready({
    prepare: (folder) =>
      put(folder, '.claude/commands/greet.md', '---\ndescription: Greets\n---\nsay Hello $ARGUMENTS!'),
  })
  program.type('/gre')
  await program.shows(/› \/greet +Greets/)
  program.type('\t')
  await program.shows('› /greet')
  program.type('world\r')
  await program.shows(/^Hello world!$/m)
  expect(program.screen()).toContain('› /greet world')
  expect(program.screen()).not.toContain('› say Hello')
})

test('/status, /mcp, /skills, /hooks and /config say what is loaded', async () => {
  const program = await ready({
    rows: 50,
    prepare: (folder) => {
      put(folder, '.claude/agents/reviewer.md', '---\ndescription: Reviews code.\n---\nYou review.')
      put(folder, '.mcp.json', JSON.stringify({ mcpServers: { files: { command: 'false' } } }))
    },
    data: { isTrusting: true },
  })
  program.type('/status\r')
  await program.shows(/session {7}nothing was said yet \([-0-9a-f]{36}\)/)
  await program.shows(/mode {10}ask \(\/permissions\)\nsandbox {7}\S/)
  await program.shows(/agents {8}reviewer\nMCP servers {3}files \(\/mcp\)\nhooks {9}0 commands \(\/hooks\)/)
  program.type('/mcp\r')
  await program.shows(/› files\n {4}starts when it is needed/)
  program.type(keys.enter)
  await program.shows('! The MCP server files could not be started')
  expect(program.screen()).toContain('› /mcp files')
  program.type('/skills\r')
  await program.shows(/Agents\n {2}reviewer {2}Reviews code\./)
  program.type('/hooks\r')
  await program.shows('No hooks.')
})

test('/config lists the settings, changes one and keeps it, and refuses what is not allowed', async () => {
  const program = await ready({ rows: 50, data: { isTrusting: true } })
  program.type('/config\r')
  await program.shows(/permissions\.mode: ask\n {4}default/)
  program.type('sandbox')
  await program.shows(/Filter: sandbox\n› sandbox: on/)
  program.type(keys.enter)
  await program.shows(/sandbox is on \(default\)\./)
  program.type('off')
  await program.shows('› off')
  program.type(keys.enter)
  await program.shows('Where should sandbox be off?')
  program.type(`${keys.down}${keys.enter}`)
  await program.shows(/^sandbox is off from the next start on/m)
  expect(JSON.parse(readFileSync(join(program.home, 'settings.json'), 'utf8'))).toEqual({ sandbox: 'off' })
  program.type('/config sandbox maybe user\r')
  await program.shows(/! sandbox: invalid option: expected one of "on"\|"ask"\|"required"\|"off"/)
  program.type('/config permissions.mode plan session\r')
  await program.shows('plan mode')
})

test('Ctrl+G opens the text in the editor of the person', async () => {
  const program = await ready({
    env: { VISUAL: '', EDITOR: 'sh ed.sh' },
    prepare: (folder) => put(folder, 'ed.sh', 'sed -i s/good/better/ "$1"; echo "second line" >> "$1"'),
  })
  program.type('say good')
  await program.shows('› say good')
  program.type('\u0007')
  await program.shows(/› say better\n {2}second line/)
  program.type('\r')
  await program.shows(/^better\s*second line$/m)
})

test('an editor that fails leaves the text as it was', async () => {
  const program = await ready({ env: { EDITOR: 'false' } })
  program.type('my words')
  await program.shows('› my words')
  program.type('\u0007')
  await program.shows('! The editor (false) ended with 1. The text is as it was.')
  await program.shows('› my words')
})

test('a status line of the person is below the gauge and knows the session', async () => {
  const script = 'sed -E "s/.*permission_mode...([a-z-]+).*/mode is \\1/"'
  const program = start({
    data: { isReal: true, mode: 'ask' },
    prepare: (folder) => put(folder, '../home/settings.json', JSON.stringify({ statusLine: { command: script } })),
  })
  await program.shows(/% left.*\nmode is ask/)
  program.type(keys.shiftTab)
  await program.shows('mode is accept-edits')
})

test('leaving says how to come back, with the name of the session; the name works', async () => {
  const program = await ready()
  program.type('say fixed the parser\r')
  await program.shows(/^fixed the parser$/m)
  await program.hides('Esc to interrupt')
  program.type('/quit\r')
  expect(await program.ended).toBe(0)
  const [, name = ''] = /Left the session (\S+)\./.exec(program.everything()) ?? []
  expect(name).toMatch(/^say-fixed-the-parser-[0-9a-f]{4}$/)
  const again = await ready({ data: { folder: program.folder, home: program.home } })
  again.type(`/resume ${name}\r`)
  await again.shows('Continued: say fixed the parser')
  again.type('/export talk.md\r')
  await again.shows('Written:')
  expect(readFileSync(join(program.folder, 'talk.md'), 'utf8')).toBe(
    '## You\n\nsay fixed the parser\n\n## Agent\n\nfixed the parser\n',
  )
})

test('/add-dir lets the tools work in another folder without a question', async () => {
  const program = await ready({ prepare: (folder) => put(folder, '../other/a.txt', 'other words') })
  const read = `use Read ${JSON.stringify({ file_path: join(program.folder, '../other/a.txt') })}`
  program.type(`${read}\r`)
  await program.shows('Allow once')
  program.type('n')
  await program.shows('Why not?')
  program.type('\r')
  // While a question is open, the screen does not say that the agent works.
  await program.shows('✗ Read')
  await program.hides('Esc to interrupt')
  program.type('/add-dir ../other\r')
  await program.shows('belongs to the workspace until you leave')
  program.type(`${read}\r`)
  await program.shows(/● Read .*other\/a\.txt · 1 line/)
})

test('/init asks the agent to write AGENTS.md', async () => {
  const program = await ready()
  program.type('/init Be brief.\r')
  await program.shows('You said: Look at this project and write AGENTS.md')
  expect(program.everything()).toContain('› /init Be brief.')
})

test('what is typed and sent while the agent starts is not refused', async () => {
  const program = start({ data: { isReal: true } })
  await program.shows('Ask something')
  program.type('say early words\r')
  await program.shows(/^early words$/m)
  expect(program.everything()).not.toContain('One moment')
})

test('/context shows the window as a picture, and its parts add up', async () => {
  const program = await ready({ rows: 40 })
  program.type('say words\r')
  await program.shows(/^words$/m)
  await program.hides('Esc to interrupt')
  program.type('/context\r')
  await program.shows(/\[a+b*[a-z]*·+\|·+\] {2}of 200,000/)
  const [, whole = ''] = /([\d,]+) tokens \(reported/.exec(program.screen()) ?? []
  const parts = [...program.screen().matchAll(/^[a-z] [\w-]+ +[█░]+ +([\d,]+) +<?\d+ %$/gm)]
  const sum = parts.reduce((total, [, tokens = '']) => total + Number(tokens.replaceAll(',', '')), 0)
  expect(sum).toBe(Number(whole.replaceAll(',', '')))
})
