// The command line as a person has it: real processes through the launcher.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, launch, root, sessionFolder } from './testing/harness.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const file = folder.write('fine.jsonl', session().user('hi').assistant('yes').records)
const torn = folder.writeBytes('torn.jsonl', `${readFileSync(file, 'utf8')}{"type":"user","uuid":`)

test('a good command line ends with 0 and says nothing on stderr', () => {
  const { exitCode, stdout, stderr } = launch(['inspect', file])
  expect([exitCode, stderr, stdout.split('\n')[0]]).toEqual([0, '', file])
})

test('--help and --version end with 0', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'cli', 'package.json'), 'utf8'))
  const help = await everlong(['inspect', '--help'])
  expect([launch(['--help']).exitCode, help.exitCode, launch(['--version'])]).toEqual([
    0,
    0,
    { exitCode: 0, stdout: `${version}\n`, stderr: '' },
  ])
})

const troubles: readonly (readonly [string, readonly string[], number, string])[] = [
  [
    'a file that is not there',
    ['inspect', join(folder.path, 'nowhere.jsonl')],
    1,
    `everlong: ${join(folder.path, 'nowhere.jsonl')} does not exist. Claude Code keeps its sessions in ~/.claude/projects.`,
  ],
  [
    'a folder where a file is wanted',
    ['context', folder.path],
    1,
    `everlong: ${folder.path} is a folder, and this command takes one transcript. For a whole folder: everlong inspect ${folder.path}`,
  ],
  [
    'something that is no regular file',
    ['fsck', '/dev/null'],
    1,
    'everlong: /dev/null is not a regular file. Save its contents to a file first.',
  ],
  [
    'an unknown command',
    ['inspct', file],
    2,
    "everlong: unknown command 'inspct' (Did you mean inspect?). See everlong --help.",
  ],
  ['a missing argument', ['repair'], 2, "everlong: missing required argument 'file'. See everlong repair --help."],
  [
    'a missing argument of a subcommand',
    ['edit', 'pin', file],
    2,
    "everlong: missing required argument 'uuid'. See everlong edit pin --help.",
  ],
  [
    'an unknown subcommand',
    ['edit', 'pn', file],
    2,
    "everlong: unknown command 'pn' (Did you mean pin?). See everlong edit --help.",
  ],
  [
    'an unknown option',
    ['tree', file, '--josn'],
    2,
    "everlong: unknown option '--josn' (Did you mean --json?). See everlong inspect --help.",
  ],
  [
    'a number that is none',
    ['context', file, '--window', 'big'],
    2,
    "everlong: option '--window <tokens>' argument 'big' is invalid. Give a number of tokens, such as 200000. See everlong context --help.",
  ],
  [
    'a port that is none',
    ['simulate', '--port', '99999'],
    2,
    "everlong: option '--port <number>' argument '99999' is invalid. Give a port, 0 to 65535. See everlong simulate --help.",
  ],
]

test.for(troubles)('%s is one clear line and the right exit code', async ([, words, exitCode, line]) => {
  expect(await everlong(words)).toEqual({ exitCode, stdout: '', stderr: `${line}\n` })
})

const firstOfEachCode = [1, 2].flatMap((code) => troubles.filter(([, , exitCode]) => exitCode === code).slice(0, 1))

test.for(firstOfEachCode)('%s: the launcher passes on the line and the exit code', ([, words, exitCode, line]) => {
  expect(launch(words)).toEqual({ exitCode, stdout: '', stderr: `${line}\n` })
})

test('--help loads the definitions of all commands and nothing of their work', () => {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context)) })`
  const args = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, join(root, 'cli/src/main.ts'), '--help']
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const loaded = stderr.split('\n')
  const isWork = (url: string) => /\/engine\/src\/|\/cli\/src\/commands\/(?!install\/)\w+\//.test(url)
  expect([loaded.some((url) => url.endsWith('/commands/lost.ts')), loaded.filter(isWork)]).toEqual([true, []])
})

test('fsck ends with 1 when it found errors', async () => {
  const [sound, broken] = [await everlong(['fsck', file]), await everlong(['fsck', torn])]
  expect([sound.exitCode, broken.exitCode]).toEqual([0, 1])
})

test('a reader that has seen enough is no error', () => {
  const many = session()
  for (let turn = 0; turn < 4_000; turn++) many.user(`question ${turn}`)
  const long = folder.write('long.jsonl', many.records)
  const command = `sh ./everlong tree '${long}' --limit 0 --json | head -n 1; echo "$?"`
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: root, encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['{\n0\n', ''])
})

test.runIf(existsSync('/dev/full'))('output that cannot be written is one clear line and exit code 1', () => {
  const { status, stderr } = spawnSync('sh', ['-c', `sh ./everlong inspect '${file}' > /dev/full`], {
    cwd: root,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([
    1,
    'everlong: the output cannot be written: no space left on the disk. Free some, or choose another place.\n',
  ])
})

test('Ctrl-C ends what runs on, with its report and exit code 0', async () => {
  // As a terminal does it: the launcher and the program both get the signal.
  const child = spawn('sh', [join(root, 'everlong'), 'simulate', '--port', '0'], { cwd: root, detached: true })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
    if (stdout.endsWith('Press Ctrl-C to stop.\n')) process.kill(-(child.pid ?? 0), 'SIGINT')
  })
  const [exitCode] = await once(child, 'close')
  expect([exitCode, stdout.split('\n').slice(-2)]).toEqual([0, ['0 requests; at API prices: $0.00.', '']])
})

test('the program ends when the launcher is killed', async () => {
  const child = spawn('sh', [join(root, 'everlong'), 'simulate', '--port', '0'], { cwd: root })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
    if (stdout.endsWith('Press Ctrl-C to stop.\n')) child.kill('SIGKILL')
  })
  // Both hold the output open.
  await once(child, 'close')
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0] ?? ''
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('npm start is the demonstration: plain lines without a terminal, no network, exit code 0, nothing left behind', async () => {
  const kept = join(folder.path, 'demo')
  const { status, stdout } = spawnSync('node', ['scripts/launch.mjs', 'start', '--folder', kept], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: undefined },
  })
  expect([status, stdout.includes('Done in'), stdout.includes('\u001b')]).toEqual([0, true, false])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0] ?? ''
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})
