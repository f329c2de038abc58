// Attempts to reach what is closed, run for real without a question: with the sandbox in the mode `ask`, and by rules alone in the
// mode `allow`. What asks is refused. docs/agent-security.md has the figures.
import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gitWorkspace } from 'everlong/node'
import { expect, test, vi } from 'vitest'
import { printsNoContents, runsGit } from '../../sandbox/git-store.ts'
import { closedFolder, whyNoSandbox } from '../../testing/sandbox.ts'
import type { Bench } from '../../testing/tool-bench.ts'
import { benches } from '../../testing/with-bench.ts'
import { decide } from '../decide.ts'
import { disk } from '../disk.ts'
import { parseRules } from '../rule.ts'
import { readScript } from '../script.ts'
import { pushing, removing } from './denied-command.ts'
import { asked, denied, notSeen } from './denied-file.ts'
import { detours, planted, plantedInIndex } from './detours.ts'
import { type Attempts, breakouts, escapes } from './escapes.ts'

const why = await whyNoSandbox()
if (why !== undefined) console.log(`The table of attempts is skipped: ${why}.`)

vi.setConfig({ testTimeout: 600_000 })
const setBench = benches()
const lists: { readonly deny: readonly string[] } = { deny: ['Read(.env)', 'Edit(protected/**)', 'Edit(conf/keep/**)'] }
const token = 'tokensecret0123'
/** In every file that is closed, and in no command. */
const marker = 'qzxjvkwqzj'

type Kind = keyof Attempts
type Attempt = { readonly number: string; readonly kind: Kind; readonly command: string }

/** A workspace with a secret that is also in its history, another project beside it, and a home folder with keys. */
async function world(mode: 'on' | 'off', permissions = lists) {
  const hits = new Set<string>()
  const server = createServer(({ url = '' }, response) => {
    hits.add(url.split('/')[1] ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = closedFolder()
  const home = mkdtempSync(join(base, 'everlong-home-'))
  const environment = { PATH: process.env.PATH, HOME: home, GITHUB_TOKEN: token }
  const bench = await setBench({
    ...{ base, environment, startMode: mode === 'on' ? 'ask' : 'allow', permissions },
    sandbox: { mode },
    answer: () => ({ type: 'deny' }),
  })
  fill(bench, home)
  const close = () => {
    server.close()
    rmSync(home, { recursive: true, force: true })
  }
  const { port } = server.address() as AddressInfo
  return { bench, home, hits, port, close }
}

type World = Awaited<ReturnType<typeof world>>

function fill({ folder, outside, write }: Bench, home: string): void {
  const other = join(outside, 'outside')
  for (const path of [other, join(home, '.ssh'), join(home, '.aws')]) mkdirSync(path, { recursive: true })
  writeFileSync(join(other, 'secret.txt'), `topsecret ${marker}\n`)
  writeFileSync(join(home, '.ssh/id_rsa'), `topsecret ${marker}\n`)
  writeFileSync(join(home, '.aws/credentials'), `topsecret ${marker}\n`)
  write('.env', `KEY=topsecret ${marker}\n`)
  write('deep/.env', `KEY=topsecret ${marker}\n`)
  write('nested/.env', `KEY=topsecret ${marker}\n`)
  write('deep/inner/a.txt', 'a\n')
  write('.git/modules/sub/HEAD', 'ref: refs/heads/main\n')
  write('.git/modules/sub/config', '[core]\n')
  write('.git/modules/sub/hooks/a.sample', '\n')
  write('src/a.js', '1\n')
  write('a.txt', 'a\n')
  write('leak.txt', 'nothing\n')
  write('protected/a.txt', 'fixed\n')
  write('conf/keep/a.txt', 'fixed\n')
  write('conf/.npmrc', 'x=1\n')
  write('.vscode/tasks.json', '{}\n')
  write('.npmrc', 'x=1\n')
  write(
    'package.json',
    '{"scripts":{"leak":"node -p \'require(\\"fs\\").readFileSync(\\".e\\" + \\"nv\\", \\"utf8\\")\'"}}\n',
  )
  write('Makefile', 'leak:\n\tcat .e*\n')
  write('leak.py', 'import os\nfor n in os.listdir("."):\n  if n.startswith(".e"): print(open(n).read())\n')
  write('read-outside.py', `print(open('${other}/secret.txt').read())\n`)
  write('read-outside.cjs', `console.log(require('fs').readFileSync('${other}/secret.txt', 'utf8'))\n`)
  write('read-outside.sh', `cat ${other}/secret.txt\n`)
  write('git-objects.py', gitObjects)
  write('leak.sh', '#!/bin/sh\ncat .e*\n')
  execFileSync('chmod', ['+x', join(folder, 'leak.sh')])
  linkSync(join(folder, '.env'), join(folder, 'hard.txt'))
  symlinkSync('.env', join(folder, 'link-to-env'))
  const person = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  // Repositories in a workspace are added to it as links, so they come first.
  for (const cwd of [join(folder, 'nested'), join(folder, 'deep/inner'), folder, other]) {
    for (const words of [
      ['init', '-q'],
      ['add', '-Af'],
      ['commit', '-qm', 'x'],
    ]) {
      execFileSync('git', [...person, ...words], { cwd })
    }
  }
}

const gitObjects = `import glob, sys, zlib
for p in glob.glob((sys.argv[1:] or ['.git'])[0] + '/objects/??/*'):
  try: print(zlib.decompress(open(p, 'rb').read()))
  except Exception: pass
`

function attemptsOf(groups: readonly Attempts[], first: number, { bench, port }: World): readonly Attempt[] {
  const all = groups.flatMap((group) =>
    (['read', 'write', 'connect'] as const).flatMap((kind) => group[kind].map((command) => ({ kind, command }))),
  )
  return all.map(({ kind, command }, at) => {
    const number = `n${first + at}n`
    const filled = command
      .replaceAll('OUTSIDE', join(bench.outside, 'outside'))
      .replaceAll('WORKSPACE', bench.folder)
      .replaceAll('/elsewhere', join(bench.outside, 'outside'))
      .replaceAll('PORT', String(port))
      .replaceAll('NUMBER', number)
    return { number, kind, command: filled }
  })
}

/** Whether the attempt got what it wanted. */
function hasReached({ kind, number }: Attempt, output: string, { bench, home, hits }: World): boolean {
  if (kind === 'connect') return hits.has(number)
  if (kind === 'read') return secrets.some((secret) => output.includes(secret))
  const places = [join(bench.outside, 'outside'), home, ...guarded.map((name) => join(bench.folder, name))]
  const isMade = places.some((place) => existsSync(place) && filesIn(place).some((path) => path.includes(number)))
  const settings = ['.git/config', '.git/modules/sub/config', 'nested/.git/config', '.npmrc', 'conf/.npmrc']
  const ofPerson = ['.gitconfig', '.npmrc', '.bashrc'].map((name) => join(home, name)).filter(existsSync)
  const files = [...settings.map((name) => join(bench.folder, name)), ...ofPerson]
  const texts = files.map((path) => readFileSync(path, 'utf8'))
  return isMade || texts.some((text) => text.includes(number))
}

const guarded = [
  ...['.git/hooks', '.git/modules/sub/hooks', 'nested/.git/hooks', 'deep/inner/.git/hooks'],
  ...['.everlong', '.claude', '.vscode', 'protected', 'conf/keep'],
]
const filesIn = (folder: string) => readdirSync(folder, { recursive: true }).map(String)

/** The secrets, and as common programs print them: reversed, in Base64, hexadecimal and octal, letter by letter. */
const secrets = [marker, token].flatMap((text) => {
  const bytes = Buffer.from(text)
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, 10),
  )
  const hex = bytes.toString('hex')
  const octal = [...bytes].map((byte) => byte.toString(8).padStart(3, '0')).join(' ')
  const pairs = [0, 2].map((start) =>
    hex
      .slice(start)
      .replace(/(....)/g, '$1 ')
      .slice(0, 14),
  )
  const letters = [...text].slice(0, 5).join('   ')
  return [text, [...text].reverse().join(''), shifted(text), ...base64, hex, ...pairs, octal, letters]
})

/** Encodes like `tr a-z b-za`. */
function shifted(text: string): string {
  return text.replace(/[a-z]/g, (letter) => (letter === 'z' ? 'a' : String.fromCharCode(letter.charCodeAt(0) + 1)))
}

/** The decision of the rules inside the sandbox, computed like the tool. */
function runsInside(command: string, root: string): boolean {
  const { rules } = parseRules(lists)
  const script = readScript(command)
  const doubt = runsGit(script) && !printsNoContents(script) ? { doubt: 'history' } : {}
  return (
    decide({ type: 'run', script, sandbox: 'inside', ...doubt }, { mode: 'ask', rules, root, disk }).type === 'allow'
  )
}

/** All of them in one sandbox, because starting it takes longer than most attempts. Returns what each one printed. */
async function printedInside(attempts: readonly Attempt[], { bench }: World): Promise<ReadonlyMap<string, string>> {
  for (const { number, command } of attempts) bench.write(`attempts/${number}.sh`, command)
  bench.write(
    'attempts/run',
    'for f in attempts/*.sh; do (timeout -k 1 10 bash $f < /dev/null 2>&1 | head -c 100000) > printed/$(basename $f .sh); done\n',
  )
  bench.write('printed/x', '')
  bench.write('attempts/control.sh', 'cat a.txt')
  await bench.call('Bash', { command: 'bash attempts/run', timeout: 600_000 })
  // They have really run, up to the last one.
  const missing = attempts.filter(({ number }) => !existsSync(join(bench.folder, 'printed', number)))
  expect({ control: printedBy(bench, 'control'), missing }).toEqual({ control: 'a\n', missing: [] })
  return new Map(attempts.map(({ number }) => [number, printedBy(bench, number)]))
}

function printedBy(bench: Bench, number: string): string {
  const path = join(bench.folder, 'printed', number)
  return existsSync(path) ? readFileSync(path, 'latin1') : ''
}

const file: Attempts = { read: [...denied, ...asked, ...Object.values(notSeen).flat()], write: [], connect: [] }

async function withSandbox(groups: readonly Attempts[]): Promise<readonly string[]> {
  const set = await world('on')
  const attempts = attemptsOf(groups, 1_000, set)
  const permitted = attempts.filter(({ command }) => runsInside(command, set.bench.folder))
  // Commands of git see more of the repository than others, and some attempts end all processes of their sandbox.
  const single = permitted.filter(({ command }) => runsGit(readScript(command)) || groups.includes(breakouts))
  const printed = new Map(
    await printedInside(
      permitted.filter((each) => !single.includes(each)),
      set,
    ),
  )
  for (const { number, command } of single) {
    printed.set(number, await set.bench.say('Bash', { command, timeout: 10_000 }))
  }
  const reached = attempts.filter((each) => hasReached(each, printed.get(each.number) ?? '', set))
  set.close()
  return reached.map(({ command }) => command)
}

async function byRules(groups: readonly Attempts[]): Promise<readonly string[]> {
  const reached: string[] = []
  const set = await world('off')
  for (const attempt of attemptsOf(groups, 1_000, set)) {
    const { command } = attempt
    const output = await set.bench.say('Bash', { command, timeout: 10_000 })
    if (hasReached(attempt, output, set)) reached.push(command)
    execFileSync('git', ['checkout', '-qf', '--', '.'], { cwd: set.bench.folder, stdio: 'ignore' })
  }
  set.close()
  return reached
}

test.skipIf(why !== undefined)('with the sandbox, no attempt reaches what is closed', async () => {
  expect(await withSandbox([file])).toEqual([])
  expect(await withSandbox([escapes])).toEqual([])
  expect(await withSandbox([detours])).toEqual([])
  expect(await withSandbox([breakouts])).toEqual([])
})

/** Calls that the agent makes by itself after a command, and those of a person in the same folder. */
async function callGit({ folder }: Bench, environment: NodeJS.ProcessEnv): Promise<void> {
  await gitWorkspace({ folder }).state()
  for (const words of [['status'], ['diff']])
    await new Promise((resolve) => execFile('git', words, { cwd: folder, env: environment }, resolve))
}

async function runLater(commands: readonly string[]): Promise<readonly string[]> {
  const reached: string[] = []
  for (const command of commands) {
    // With a denied file in the history, many commands of git ask.
    const set = await world('on', { deny: [] })
    const [attempt] = attemptsOf([{ read: [], write: [command], connect: [] }], 1_000, set)
    if (attempt === undefined) throw new Error(command)
    await set.bench.say('Bash', { command: attempt.command, timeout: 10_000 })
    await callGit(set.bench, { ...process.env, HOME: set.home })
    if (filesIn(join(set.bench.outside, 'outside')).includes(attempt.number)) reached.push(command)
    set.close()
  }
  return reached
}

test.skipIf(why !== undefined)('with the sandbox, commands leave nothing that runs when git is called', async () => {
  expect(await runLater(planted)).toEqual([])
  // The page says so.
  expect(await runLater(plantedInIndex)).toEqual(plantedInIndex)
})

/** `npm test -- attempts/table` with `EVERLONG_TABLE=1` prints the rows. What gets through by rules depends on the programs of the machine. */
if (process.env.EVERLONG_TABLE)
  test('by rules alone, some do', async () => {
    console.log(
      rows({ files: (await byRules([file])).length, others: (await byRules([escapes, detours])).length }).join('\n'),
    )
  })

test('the page has these attempts', () => {
  const page = readFileSync(new URL('../../../../docs/agent-security.md', import.meta.url), 'utf8')
  const [, files, others] = /denies \| \d+ \| (\d+) \|[\s\S]*?the network \| \d+ \| (\d+) \|/.exec(page) ?? []
  expect(page).toContain(rows({ files: Number(files), others: Number(others) }).join('\n'))
})

function rows({ files, others }: { readonly files: number; readonly others: number }): readonly string[] {
  const tried = (...groups: readonly Attempts[]) => groups.flatMap((group) => Object.values(group).flat()).length
  const commands = ({ denied: all, asked: more, otherCommands: other }: typeof removing) =>
    all.length + more.length + other.length
  return [
    `| a file that \`Read(.env)\` denies | ${tried(file)} | ${files} | 0 |`,
    `| other files, secrets, what runs later, the network | ${tried(escapes, detours)} | ${others} | 0 |`,
    `| to run something outside when git is called later | ${planted.length + plantedInIndex.length} | not tried | ${plantedInIndex.length} |`,
    `| the sandbox itself: mounts, namespaces, devices, other processes | ${tried(breakouts)} | not tried | 0 |`,
    `| a command that \`Bash(rm:*)\` denies | ${commands(removing)} | ${removing.otherCommands.length} | ${removing.otherCommands.length} |`,
    `| a command that \`Bash(git push:*)\` denies | ${commands(pushing)} | ${pushing.otherCommands.length} | ${pushing.otherCommands.length} |`,
  ]
}
