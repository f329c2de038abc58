// Which folders are open and closed, without a sandbox.
import { once } from 'node:events'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { foldersFor } from './folders.ts'

const temporary = setFolder()

/** A folder with these files, and what is open for a workspace in it. */
function opened(files: Readonly<Record<string, string>>, workspace = 'work', more: readonly string[] = []) {
  const base = temporary()
  for (const [name, text] of Object.entries({ [`${workspace}/a.txt`]: '', 'home/x': '', ...files })) {
    mkdirSync(join(base, name, '..'), { recursive: true })
    writeFileSync(join(base, name), text.replaceAll('BASE', base))
  }
  const userHome = join(base, 'home')
  const added = more.map((name) => join(base, name))
  const folders = foldersFor({ root: join(base, workspace), added, agentHome: join(userHome, '.everlong'), userHome })
  const inBase = (paths: readonly string[]) =>
    paths.filter((path) => path.startsWith(`${base}/`)).map((path) => path.slice(base.length + 1))
  const { readable, writable, secret, fixed, stores } = folders
  return {
    ...folders,
    base,
    own: Object.fromEntries(
      Object.entries({ readable, writable, secret, fixed, stores }).map(([name, paths]) => [name, inBase(paths)]),
    ),
  }
}

test('a workspace alone', () => {
  expect(opened({}).own).toEqual({ readable: ['work'], writable: ['work'], secret: [], fixed: [], stores: [] })
})

test('the home folder: tools and settings of git are readable, keys are not, also if it is the workspace', () => {
  const files = {
    'home/.gitconfig': '',
    'home/.ssh/id_rsa': '',
    'home/.npmrc': '',
    'home/.cargo/bin/x': '',
    'home/.everlong/x': '',
  }
  const { own } = opened(files)
  expect(own.readable).toEqual(['work', 'home/.gitconfig', 'home/.cargo/bin'])
  expect(own.secret).toEqual(['home/.ssh', 'home/.npmrc', 'home/.everlong'])
  expect(opened(files, 'home').own.secret).toEqual(['home/.ssh', 'home/.npmrc', 'home/.everlong'])
})

test('a program on the PATH opens its installation, but never the home folder or a folder around it', () => {
  const base = temporary()
  const userHome = join(base, 'home')
  const names = ['home/bin', 'home/.local/bin', 'home/.cargo/bin', 'home/tools/node/bin', 'home/tools/plain', 'bin']
  for (const name of [...names, 'home/.ssh', 'work']) mkdirSync(join(base, name), { recursive: true })
  const path = [...names.map((name) => join(base, name)), 'relative/bin', join(base, 'missing/bin')].join(':')
  const { readable } = foldersFor({ root: join(base, 'work'), agentHome: join(userHome, '.everlong'), path, userHome })
  const own = readable.filter((each) => each.startsWith(base)).map((each) => each.slice(base.length + 1))
  const opened = ['home/bin', 'home/.local/bin', 'home/.cargo/bin', 'home/tools/node', 'home/tools/plain', 'bin']
  expect(own.toSorted()).toEqual([...opened, 'work'].toSorted())
})

test('a repository above: what is beside the workspace is readable, and the store is writable except hooks and settings', () => {
  const { own } = opened({ 'repo/.git/HEAD': '', 'repo/top.txt': '', 'repo/packages/b/x': '' }, 'repo/packages/a')
  const fixed = ['hooks', 'config', 'config.worktree'].map((name) => `repo/.git/${name}`)
  expect(own).toEqual({
    readable: ['repo/packages/a', 'repo/packages/b', 'repo/top.txt'],
    writable: ['repo/packages/a', 'repo/.git'],
    secret: [],
    fixed,
    stores: ['repo/.git'],
  })
})

test('added folders are open like the workspace, each with its repository', () => {
  const files = { 'other/.git/HEAD': '', 'other/part/x': '', 'other/top.txt': '', 'plain/x': '' }
  const { own, roots, base } = opened(files, 'work', ['other/part', 'plain'])
  expect(own).toEqual({
    readable: ['work', 'other/part', 'plain', 'other/top.txt'],
    writable: ['work', 'other/part', 'plain', 'other/.git'],
    secret: [],
    fixed: ['hooks', 'config', 'config.worktree'].map((name) => `other/.git/${name}`),
    stores: ['other/.git'],
  })
  expect(roots).toEqual(['work', 'other/part', 'plain'].map((name) => join(base, name)))
})

test('no readable folder is around or in an added one of the same repository', () => {
  const files = { 'repo/.git/HEAD': '', 'repo/b/src/x': '', 'repo/b/y': '', 'repo/c/z': '' }
  expect(opened(files, 'repo/a', ['repo/b/src']).own.readable).toEqual(['repo/a', 'repo/b/src', 'repo/b/y', 'repo/c'])
  const above = opened(files, 'repo/a', ['repo']).own
  expect([above.readable, above.writable]).toEqual([
    ['repo/a', 'repo'],
    ['repo/a', 'repo', 'repo/.git'],
  ])
})

test('a home folder that is a repository does not open it', () => {
  const { own } = opened({ 'home/.git/HEAD': '', 'home/notes.txt': '' }, 'home/code/a')
  expect([own.readable, own.writable, own.stores]).toEqual([['home/code/a'], ['home/code/a'], []])
})

test('a worktree opens its stores, and a file .git that names another repository opens nothing', () => {
  const store = { 'repo/.git/HEAD': '', 'repo/.git/worktrees/w/commondir': '../..\n' }
  const link = { 'work/.git': 'gitdir: BASE/repo/.git/worktrees/w\n' }
  const own = opened({ ...store, ...link, 'repo/.git/worktrees/w/gitdir': 'BASE/work/.git\n' }).own
  expect(own.writable).toEqual(['work', 'repo/.git/worktrees/w', 'repo/.git'])
  const forged = [
    { ...store, ...link, 'repo/.git/worktrees/w/gitdir': 'BASE/other/.git\n' },
    { ...store, 'work/.git': 'gitdir: BASE/repo/.git\n' },
    { ...store, 'work/.git': 'gitdir: BASE/home/.ssh\n', 'home/.ssh/id_rsa': '' },
    { 'work/.git': 'gitdir: BASE/nowhere\n' },
    { 'work/.git': 'nonsense' },
  ]
  expect(forged.map((files) => opened(files).own.writable)).toEqual(forged.map(() => ['work']))
})

test.skipIf(process.platform !== 'linux')(
  'folders of the system are open, and all others at the top are closed',
  () => {
    const { closed } = opened({})
    expect(closed).toEqual(
      expect.arrayContaining(['/home', '/root', '/var', '/run'].filter((path) => realpathSync(path) === path)),
    )
    expect(closed.filter((path) => /^\/(?:usr|etc|bin|lib|opt|proc|dev)$/.test(path))).toEqual([])
  },
)

/** Makes and removes a folder again and again, until the flag is set. */
const toggling = `
  const { mkdirSync, rmdirSync } = require('node:fs')
  const { parentPort, workerData: { path, flag } } = require('node:worker_threads')
  const state = new Int32Array(flag)
  parentPort.postMessage('ready')
  while (Atomics.load(state, 0) === 0) {
    mkdirSync(path)
    rmdirSync(path)
  }
`

test('a placeholder that another sandbox takes away in the meantime is no repository, and no error', async () => {
  const base = temporary()
  const root = join(base, 'work')
  const userHome = join(base, 'home')
  mkdirSync(root)
  mkdirSync(userHome)
  const flag = new SharedArrayBuffer(4)
  const worker = new Worker(toggling, { eval: true, workerData: { path: join(root, '.git'), flag } })
  await once(worker, 'message')
  try {
    // Each folder that was added is one more look at the placeholder.
    const added = Array.from({ length: 300 }, () => root)
    for (let round = 0; round < 100; round++) {
      expect(foldersFor({ root, added, agentHome: join(userHome, '.everlong'), userHome }).stores).toEqual([])
    }
  } finally {
    Atomics.store(new Int32Array(flag), 0, 1)
    await once(worker, 'exit')
  }
})
