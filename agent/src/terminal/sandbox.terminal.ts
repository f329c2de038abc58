// The whole agent as a person starts it, with the real sandbox: harmless commands ask nothing, a command that connects asks, and a
// file that a rule denies stays unreadable for every program. The model does what the prompt says: `run COMMAND`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  asksForNotes,
  noteTaker,
  type RunningServer,
  route,
  type Script,
  startServer,
  text,
  toolUse,
} from '@everlong/simulator'
import { textOf } from 'everlong/internal'
import { afterEach, expect, test } from 'vitest'
import { closedFolder, whyNoSandbox } from '../testing/sandbox.ts'
import { keys } from './testing/keys.ts'
import { type Pty, startPty } from './testing/pty.ts'

const why = await whyNoSandbox()
if (why !== undefined) console.log(`The terminal tests of the sandbox are skipped: ${why}.`)

const open: { readonly program: Pty; readonly server: RunningServer; readonly base: string }[] = []
afterEach(async () => {
  for (const { program, server, base } of open.splice(0)) {
    if (program.isAlive()) program.kill('SIGKILL')
    await program.ended
    await server.close()
    rmSync(base, { recursive: true, force: true })
  }
})

const follow: Script = ({ messages }) => {
  const last = messages.at(-1)
  const said = typeof last?.content === 'string' ? last.content : textOf(last?.content ?? '')
  const command = /run (.+)$/.exec(said)?.[1]
  // Calls are folded on the screen, so the answer repeats the model's input.
  return command === undefined ? text(`${JSON.stringify(last?.content)}\n\nDone.`) : toolUse('Bash', { command })
}

async function start(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const base = mkdtempSync(join(closedFolder(), 'everlong-terminal-'))
  const [folder, home] = [join(base, 'project'), join(base, 'home')]
  mkdirSync(folder)
  writeFileSync(join(folder, 'secret.txt'), 'topsecret\n')
  writeFileSync(join(folder, 'package.json'), '{"scripts":{"test":"echo tested"}}')
  writeFileSync(join(folder, 'read.py'), "print(open('secret' + '.txt').read())\n")
  for (const command of [
    ['init', '-q'],
    ['add', '-A'],
    ['-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qm', 'First'],
  ])
    execFileSync('git', command, { cwd: folder })
  const server = await startServer({ script: route([{ when: asksForNotes, script: noteTaker() }], follow) })
  const launch = fileURLToPath(new URL('../../../scripts/launch.mjs', import.meta.url))
  const model = ['--model', `anthropic:claude-opus-4-5@${server.url}`]
  const program = startPty({
    command: [process.execPath, launch, 'cli', 'agent', folder, ...model, ...words],
    cwd: folder,
    rows: 40,
    columns: 120,
    env: { EVERLONG_HOME: home, ANTHROPIC_API_KEY: 'none', ...environment },
  })
  open.push({ program, server, base })
  await program.shows('% left')
  let runs = 0
  /** Returns when the turn has ended. */
  const run = async (command: string) => {
    runs++
    program.type(`run ${command}`)
    await program.shows(`› run ${command}`)
    program.type(keys.enter)
    await expect.poll(() => program.everything().match(/^Done\.$/gm)?.length ?? 0, { timeout: 60_000 }).toBe(runs)
  }
  return { program, run }
}

test.skipIf(why !== undefined)(
  'nothing harmless asks, and a denied file is unreadable for python, tar and npm',
  async () => {
    const { program, run } = await start(['--deny', 'Read(secret.txt)'])
    for (const command of [
      'npm test',
      'touch new.txt',
      'git status --short',
      'python3 read.py',
      'tar cf - . | strings',
    ]) {
      await run(command)
    }
    expect(program.everything()).not.toContain('Allow once')
    expect(program.everything()).toContain('tested')
    expect(program.everything()).not.toContain('topsecret')
    program.type('/permissions\r')
    await program.shows('Sandbox: on. Commands run without a question')
  },
  240_000,
)

test.skipIf(why !== undefined)(
  'a command that connects asks about the host, and the denied file in git asks too',
  async () => {
    const site = createServer((_, response) => response.end('answered'))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const { port } = site.address() as AddressInfo
    const { program } = await start(['--deny', 'Read(secret.txt)'])
    program.type(`run curl -s --noproxy '' http://127.0.0.1:${port}\r`)
    await program.shows(`Connect to 127.0.0.1:${port}`)
    await program.shows('Network(domain:127.0.0.1)')
    program.type('y')
    await program.shows('answered', 'everything')
    await program.hides('Esc to interrupt')
    program.type('run git show HEAD\r')
    await program.shows('a file that a rule denies is in the history of git')
    program.type('n')
    expect(program.everything()).not.toContain('topsecret')
    site.close()
  },
  240_000,
)

test('without a sandbox it is reported once, and commands ask', async () => {
  const { program, run } = await start(['--permission-mode', 'ask'], { PATH: '/nowhere' })
  await run('echo hi')
  await run('pwd')
  expect(program.everything().match(/There is no sandbox for commands/g)).toHaveLength(1)
  program.type('run touch x\r')
  await program.shows('Allow once')
}, 240_000)
