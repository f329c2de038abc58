import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { type Checkpoint, copyCheckpoints, createCheckpoints } from './checkpoints.ts'

const temporary = setFolder()
const both = { what: 'both', change: 'a' } as const

function set() {
  const [folder, home] = [join(temporary(), 'project'), join(temporary(), 'home')]
  for (const each of [folder, home]) mkdirSync(each, { recursive: true })
  const path = join(home, 'session.jsonl')
  let clock = Date.parse('2026-01-01T00:00:00.000Z')
  const notices: string[] = []
  const now = () => {
    clock += 1_000
    return clock
  }
  const options = { folder, path, notify: (text: string) => notices.push(text), now }
  const write = (name: string, text: string | Uint8Array) => {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return { folder, home, path, options, notices, write, later: now, points: createCheckpoints(options) }
}

/** Everything below a folder, as text. */
function contents(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.startsWith('.git/') && statSync(join(folder, name)).isFile(),
  )
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(join(folder, name)).toString('latin1')]))
}

test('changed, created and deleted files come back, also binary ones, by whatever they were changed', async () => {
  const { folder, write, later, points } = set()
  const binary = new Uint8Array([0, 255, 10, 13, 0, 128])
  write('a.txt', 'old\r\n')
  write('deep/b.bin', binary)
  write('run.sh', '#!/bin/sh\n')
  chmodSync(join(folder, 'run.sh'), 0o755)
  write('gone.txt', 'gone')
  write('with space "and quotes" ü.txt', 'odd')
  const before = contents(folder)
  await points.take()
  const when = later()
  write('a.txt', 'new')
  write('deep/b.bin', 'text')
  write('deep/new/c.txt', 'created')
  rmSync(join(folder, 'gone.txt'))
  rmSync(join(folder, 'with space "and quotes" ü.txt'))
  execFileSync('sh', ['-c', 'rm run.sh; echo x > run.sh'], { cwd: folder })
  const point = await points.before(when)
  if (!point) throw new Error('There is no checkpoint.')
  const changed = await points.changesSince(point)
  expect(changed.map(({ path, kind }) => `${kind} ${path}`).toSorted()).toEqual([
    'changed a.txt',
    'changed deep/b.bin',
    'changed run.sh',
    'created deep/new/c.txt',
    'deleted gone.txt',
    'deleted with space "and quotes" ü.txt',
  ])
  const after = contents(folder)
  expect((await points.restore(point, both)).length).toBe(6)
  expect(contents(folder)).toEqual(before)
  expect(statSync(join(folder, 'run.sh')).mode & 0o111).not.toBe(0)
  // The state before the rewind belongs to no prompt.
  expect(await points.before(later())).toEqual(point)
  // And forward again.
  expect(await points.lastRewind()).toEqual(both)
  expect((await points.undoRewind()).length).toBe(6)
  expect(contents(folder)).toEqual(after)
})

test('rewinds are undone one after the other, each once, until the next prompt', async () => {
  const { folder, write, points, options } = set()
  const now = () => readFileSync(join(folder, 'a.txt'), 'utf8')
  const states: Checkpoint[] = []
  for (const text of ['one', 'two']) {
    write('a.txt', text)
    await points.take()
    const point = await points.before(Number.POSITIVE_INFINITY)
    if (!point) throw new Error('There is no checkpoint.')
    states.push(point)
  }
  write('a.txt', 'three')
  const [one, two] = states
  if (!one || !two) throw new Error('There is no checkpoint.')
  const files = { what: 'files', change: undefined } as const
  await points.restore(two, both)
  await points.restore(one, files)
  expect([now(), await points.lastRewind()]).toEqual(['one', files])
  await points.undoRewind()
  // Also when the session is opened again.
  const again = createCheckpoints(options)
  expect([now(), await again.lastRewind()]).toEqual(['two', both])
  await again.undoRewind()
  expect([now(), await again.lastRewind()]).toEqual(['three', undefined])
  expect(await again.undoRewind()).toEqual([])
  await points.restore(one, files)
  await points.take()
  expect(await points.lastRewind()).toBeUndefined()
})

test('each prompt has its own state, and the newest before a message counts', async () => {
  const { folder, write, later, points } = set()
  const times: number[] = []
  for (const text of ['one', 'two', 'three']) {
    write('a.txt', text)
    await points.take()
    times.push(later())
  }
  write('a.txt', 'four')
  for (const [at, text] of ['one', 'two', 'three'].entries()) {
    const point = await points.before(times[at] ?? 0)
    if (!point) throw new Error('There is no checkpoint.')
    await points.restore(point, both)
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe(text)
  }
  expect(await points.before(0)).toBeUndefined()
})

test("the person's own repository is not touched, and what it ignores stays as it is", async () => {
  const { folder, write, later, points } = set()
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: folder, encoding: 'utf8' })
  git('init', '--quiet')
  write('.gitignore', '*.log\nnode_modules/\n')
  write('a.txt', 'committed')
  git('add', '-A')
  git('commit', '--quiet', '-m', 'first')
  write('staged.txt', 'staged')
  git('add', 'staged.txt')
  write('x.log', 'before')
  write('node_modules/y.js', 'before')
  const index = readFileSync(join(folder, '.git/index'))
  await points.take()
  const when = later()
  write('a.txt', 'changed')
  write('x.log', 'after')
  write('node_modules/y.js', 'after')
  const point = await points.before(when)
  if (!point) throw new Error('There is no checkpoint.')
  expect(await points.restore(point, both)).toEqual([{ kind: 'changed', path: 'a.txt' }])
  expect(readFileSync(join(folder, 'x.log'), 'utf8')).toBe('after')
  expect(readFileSync(join(folder, '.git/index'))).toEqual(index)
  expect(git('log', '--format=%s').trim()).toBe('first')
  expect(git('stash', 'list')).toBe('')
})

test('in a folder of a repository, what the folders above ignore is ignored too', async () => {
  const { folder, write, later, points, options, path } = set()
  execFileSync('git', ['init', '--quiet'], { cwd: folder })
  write('.gitignore', 'dist/\n')
  write('part/a.txt', 'old')
  write('part/dist/b.txt', 'old')
  const part = createCheckpoints({ ...options, folder: join(folder, 'part'), path })
  await part.take()
  const when = later()
  write('part/a.txt', 'new')
  write('part/dist/b.txt', 'new')
  const point = await part.before(when)
  if (!point) throw new Error('There is no checkpoint.')
  expect(await part.restore(point, both)).toEqual([{ kind: 'changed', path: 'a.txt' }])
  expect(await points.before(when)).toEqual(point)
})

test('files that are too large and repositories inside are not kept, and that is reported', async () => {
  const { folder, write, points, later } = set()
  write('small.txt', 'x')
  write('large.bin', Buffer.alloc(10 * 1024 * 1024 + 1))
  write('limit.bin', Buffer.alloc(10 * 1024 * 1024))
  mkdirSync(join(folder, 'inner'))
  execFileSync('git', ['init', '--quiet'], { cwd: join(folder, 'inner') })
  write('inner/c.txt', 'x')
  await points.take()
  expect((await points.before(later()))?.skipped.toSorted()).toEqual(['inner/', 'large.bin'])
})

test('a link out of the workspace is kept as a link, and nothing behind it is changed', async () => {
  const { folder, home, write, later, points } = set()
  writeFileSync(join(home, 'outside.txt'), 'outside')
  mkdirSync(join(folder, 'd'))
  write('d/a.txt', 'inside')
  await points.take()
  const when = later()
  rmSync(join(folder, 'd'), { recursive: true })
  symlinkSync(home, join(folder, 'd'))
  const point = await points.before(when)
  if (!point) throw new Error('There is no checkpoint.')
  await points.restore(point, both)
  expect(readFileSync(join(folder, 'd/a.txt'), 'utf8')).toBe('inside')
  expect(existsSync(join(home, 'a.txt'))).toBe(false)
  expect(readFileSync(join(home, 'outside.txt'), 'utf8')).toBe('outside')
})

test('a copy of a session goes back as far as the original; without git it is reported once', async () => {
  const { folder, home, path, options, write, later, points, notices } = set()
  write('a.txt', 'old')
  await points.take()
  const when = later()
  write('a.txt', 'new')
  copyCheckpoints(path, join(home, 'copy.jsonl'))
  // Sessions share the repository and not the index, so that they cannot lock each other out.
  expect(existsSync(join(home, 'session', 'checkpoints.index'))).toBe(true)
  const copy = createCheckpoints({ ...options, path: join(home, 'copy.jsonl') })
  const point = await copy.before(when)
  if (!point) throw new Error('There is no checkpoint.')
  await copy.restore(point, both)
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('old')
  const { PATH } = process.env
  process.env.PATH = '/nowhere'
  try {
    await points.take()
    await points.take()
  } finally {
    process.env.PATH = PATH
  }
  expect(notices).toEqual(['/rewind cannot give files back in this session: spawn git ENOENT'])
})

test('variables of the person’s git do not reach the repository of the checkpoints', async () => {
  const { folder, write, later, points } = set()
  const elsewhere = join(temporary(), 'elsewhere')
  mkdirSync(elsewhere)
  for (const name of ['GIT_OBJECT_DIRECTORY', 'GIT_COMMON_DIR', 'GIT_NAMESPACE']) vi.stubEnv(name, elsewhere)
  vi.stubEnv('GIT_CONFIG_COUNT', 'broken')
  try {
    write('a.txt', 'old')
    await points.take()
    const when = later()
    write('a.txt', 'new')
    const point = await points.before(when)
    if (!point) throw new Error('There is no checkpoint.')
    await points.restore(point, both)
    expect(contents(folder)).toEqual({ 'a.txt': 'old' })
    expect(readdirSync(elsewhere)).toEqual([])
  } finally {
    vi.unstubAllEnvs()
  }
})
