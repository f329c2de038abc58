import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createStop } from '../../core/ports/safely.ts'
import { gitWorkspace, parseStatus } from './workspace.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-git-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (seconds: number) => `@${seconds} +0000`

function git(words: readonly string[], seconds = 1_000_000_000): string {
  const who = { name: 'A', email: 'a@example.com' }
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_AUTHOR_NAME: who.name,
    GIT_AUTHOR_EMAIL: who.email,
    GIT_COMMITTER_NAME: who.name,
    GIT_COMMITTER_EMAIL: who.email,
    GIT_AUTHOR_DATE: at(seconds),
    GIT_COMMITTER_DATE: at(seconds),
  }
  return execFileSync('git', words as string[], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }).trim()
}

const put = (path: string, text: string) => writeFileSync(join(folder, path), text)

/** Commits everything and returns the commit's hash. */
function commit(title: string, seconds?: number): string {
  git(['add', '-A'])
  git(['commit', '-q', '-m', title], seconds)
  return git(['rev-parse', 'HEAD'])
}

const none = { items: [], count: 0 }
const quiet = { type: 'state', staged: none, unstaged: none, untracked: none, conflicts: none, isPartial: false }

describe('a repository', () => {
  beforeEach(() => git(['init', '-q', '-b', 'main']))

  test('before its first commit it has a branch and no HEAD', async () => {
    put('a', '1')
    expect(await gitWorkspace({ folder }).state({ since: { time: 0 } })).toEqual({
      ...quiet,
      branch: 'main',
      untracked: { items: [{ path: 'a' }], count: 1 },
    })
  })

  test('staged, changed, deleted, renamed and new files are told apart', async () => {
    for (const name of ['kept', 'changed', 'deleted', 'renamed', 'both']) put(name, `${name}\n`.repeat(9))
    const hash = commit('First: "quoted"')
    put('changed', 'x')
    git(['mv', 'renamed', 'other name'])
    rmSync(join(folder, 'deleted'))
    put('both', 'staged')
    put('added', '1')
    git(['add', 'both', 'added'])
    put('both', 'and changed again')
    put('new\nline', '1')
    const file = (path: string, change?: string) => ({ path, ...(change ? { change } : {}) })
    expect(await gitWorkspace({ folder }).state()).toEqual({
      ...quiet,
      branch: 'main',
      head: { hash, title: 'First: "quoted"' },
      staged: { items: [file('added', 'new'), file('both'), file('other name', 'renamed')], count: 3 },
      unstaged: { items: [file('both'), file('changed'), file('deleted', 'deleted')], count: 3 },
      untracked: { items: [file('new\nline')], count: 1 },
    })
  })

  test('commits since a time, newest first, and how far the upstream is', async () => {
    put('a', '1')
    commit('One', 1_000)
    git(['branch', 'base'])
    git(['branch', '-q', '--set-upstream-to=base'])
    put('a', '2')
    const second = commit('Two', 2_000)
    put('a', '3')
    const third = commit('Three', 3_000)
    const workspace = gitWorkspace({ folder })
    const commits = [
      { hash: third, title: 'Three' },
      { hash: second, title: 'Two' },
    ]
    const state = {
      ...quiet,
      branch: 'main',
      head: commits[0],
      upstream: { name: 'base', counts: { ahead: 2, behind: 0 } },
    }
    expect(await workspace.state({ since: { time: 2_000_900 } })).toEqual({
      ...state,
      commits: { items: commits, count: 2 },
    })
  })

  test('a conflict and a detached HEAD are named', async () => {
    put('a', '1')
    const first = commit('One')
    git(['checkout', '-q', '-b', 'side'])
    put('a', '2')
    commit('Two')
    git(['checkout', '-q', first])
    put('a', '3')
    const hash = commit('Three')
    expect(() => git(['merge', '-q', 'side'])).toThrow()
    expect(await gitWorkspace({ folder }).state()).toEqual({
      ...quiet,
      head: { hash, title: 'Three' },
      conflicts: { items: [{ path: 'a' }], count: 1 },
    })
  })

  test('lists are capped and counted, and paths are relative to the folder that was asked about', async () => {
    mkdirSync(join(folder, 'deep'))
    for (let each = 10; each < 40; each++) put(`file-${each}`, '')
    put('deep/own', '')
    put('tracked', '')
    git(['add', 'tracked', 'deep/own'])
    const state = await gitWorkspace({ folder: join(folder, 'deep') }).state()
    expect(state).toMatchObject({
      staged: { items: [{ path: 'own' }, { path: '../tracked' }], count: 2 },
      untracked: { count: 30 },
    })
    expect(state.type === 'state' && state.untracked.items.map(({ path }) => path)).toEqual(
      Array.from({ length: 20 }, (_, index) => `../file-${10 + index}`),
    )
  })

  test('no program that the repository names is run, and the index is not written', async () => {
    put('a', '1')
    put('touched', 'the same')
    commit('One')
    utimesSync(join(folder, 'touched'), 1_000, 1_000)
    const index = readFileSync(join(folder, '.git', 'index'))
    const trap = join(folder, '.git', 'trap.sh')
    writeFileSync(trap, `#!/bin/sh\ntouch "${join(folder, '.git', 'sprung')}"\n`)
    chmodSync(trap, 0o755)
    for (const name of ['core.fsmonitor', 'core.pager', 'gpg.program']) git(['config', name, trap])
    git(['config', 'log.showSignature', 'true'])
    put('a', '2')
    expect(await gitWorkspace({ folder }).state({ since: { time: 0 } })).toMatchObject({ unstaged: { count: 1 } })
    expect(existsSync(join(folder, '.git', 'sprung'))).toBe(false)
    expect(readFileSync(join(folder, '.git', 'index')).equals(index)).toBe(true)
  })

  test.each(['x', 'a.b', 'A=b'])('filters of the repository do not run: %j', async (name) => {
    put('a', '1')
    put('.gitattributes', `* filter=${name}`)
    commit('One')
    put('a', '2')
    const sprung = join(folder, '.git', 'sprung')
    for (const key of ['clean', 'smudge', 'process'])
      git(['config', '--file', '.git/more', `filter.${name}.${key}`, `touch "${sprung}"; cat`])
    git(['config', 'include.path', 'more'])
    const state = await gitWorkspace({ folder }).state()
    const refused = { type: 'unknown', why: 'the settings of the repository may run programs' }
    expect(state).toMatchObject(name.includes('=') ? refused : { unstaged: { count: 1 } })
    expect(existsSync(sprung)).toBe(false)
  })

  test('filters of the person run', async () => {
    put('a', 'one')
    put('.gitattributes', '* filter=upper')
    commit('One')
    const settings = join(folder, '.git', 'of-the-person')
    git(['config', '--file', settings, 'filter.upper.clean', 'tr A-Z a-z'])
    put('a', 'ONE')
    const home = process.env.HOME
    process.env.HOME = join(folder, '.git')
    writeFileSync(join(folder, '.git', '.gitconfig'), readFileSync(settings))
    try {
      expect(await gitWorkspace({ folder }).state()).toMatchObject({ unstaged: { count: 0 } })
    } finally {
      process.env.HOME = home
    }
  })

  test('a folder that only looks like a repository is none', async () => {
    const plain = join(folder, 'plain')
    mkdirSync(plain)
    execFileSync('git', ['init', '-q', '--bare', plain])
    const settings = join(plain, 'config')
    git(['config', '--file', settings, 'core.bare', 'false'])
    git(['config', '--file', settings, 'core.worktree', plain])
    const state = await gitWorkspace({ folder: plain }).state()
    expect(state).toMatchObject({
      type: 'unknown',
      why: expect.stringMatching(/^git refused: cannot use bare repository/),
    })
  })

  test('the variables of an outer git do not lead to another repository', async () => {
    put('a', '1')
    const hash = commit('One')
    process.env.GIT_DIR = join(folder, 'elsewhere')
    try {
      expect(await gitWorkspace({ folder }).state()).toMatchObject({ head: { hash } })
    } finally {
      delete process.env.GIT_DIR
    }
  })

  test('more output than the size limit gives what was read, and says that it is not all', async () => {
    const loud = join(folder, 'loud')
    const status = "printf '# branch.head main\\0'; yes '? x' | head -c 2000000 | tr '\\n' '\\0'"
    writeFileSync(loud, `#!/bin/sh\ncase "$*" in *rev-parse*|*config*) echo;; *) ${status};; esac\n`)
    chmodSync(loud, 0o755)
    const state = await gitWorkspace({ folder, git: loud, timeoutMs: 20_000 }).state()
    expect(state).toMatchObject({ type: 'state', branch: 'main', isPartial: true })
    expect(state.type === 'state' && state.untracked.count).toBeGreaterThan(100_000)
  })
})

describe('no answer', () => {
  const why = (text: string) => ({ type: 'unknown', why: text })

  test('a folder without git says so', async () => {
    expect(await gitWorkspace({ folder }).state()).toEqual(why('the folder is not in a git repository'))
  })

  test('a folder that is not there says so', async () => {
    expect(await gitWorkspace({ folder: join(folder, 'none') }).state()).toEqual(why('the folder does not exist'))
  })

  test('a machine without git says so', async () => {
    expect(await gitWorkspace({ folder, git: 'no-such-git' }).state()).toEqual(why('git is not installed'))
  })

  test('a git that hangs is stopped after the time limit', async () => {
    const slow = join(folder, 'slow')
    writeFileSync(slow, '#!/bin/sh\nexec sleep 600\n')
    chmodSync(slow, 0o755)
    const state = await gitWorkspace({ folder, git: slow, timeoutMs: 50 }).state()
    expect(state).toEqual(why('git did not answer within 50 ms'))
  })

  test('an abort before or during the question ends it', async () => {
    const { signal, stop } = createStop()
    const slow = join(folder, 'slow')
    writeFileSync(slow, '#!/bin/sh\nexec sleep 600\n')
    chmodSync(slow, 0o755)
    const asked = gitWorkspace({ folder, git: slow, timeoutMs: 600_000 }).state({ signal })
    stop()
    expect(await asked).toEqual(why('it was stopped'))
    expect(await gitWorkspace({ folder }).state({ signal })).toEqual(why('it was stopped'))
  })
})

const emptyStatus = {
  oid: undefined,
  branch: undefined,
  upstream: undefined,
  staged: [],
  unstaged: [],
  untracked: [],
  conflicts: [],
}

test('the old name of a renamed file is no file of its own, whatever it looks like', () => {
  const renamed = '2 R. N... 100644 100644 100644 1111 1111 R100 new name'
  expect(parseStatus(`${renamed}\0? old\0? other\0`, '')).toEqual({
    ...emptyStatus,
    staged: [{ path: 'new name', change: 'renamed' }],
    untracked: [{ path: 'other' }],
  })
})

test('a record that was cut off is passed over', () => {
  expect(parseStatus('? whole\0? cut o', '')).toEqual({ ...emptyStatus, untracked: [{ path: 'whole' }] })
})

test('an upstream that is gone has no counts', () => {
  const output = '# branch.oid abc\0# branch.head main\0# branch.upstream origin/main\0'
  expect(parseStatus(output, '')).toEqual({
    ...emptyStatus,
    oid: 'abc',
    branch: 'main',
    upstream: { name: 'origin/main' },
  })
})
