import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseRules } from '../permissions/rule.ts'
import { readScript } from '../permissions/script.ts'
import { createGitStore, printsNoContents, runsGit } from './git-store.ts'

describe('a denied file in the history', () => {
  let root: string
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'everlong-store-')))
    mkdirSync(join(root, 'conf/inner'), { recursive: true })
    for (const name of ['.env', 'conf/inner/key.txt', 'a.txt']) writeFileSync(join(root, name), 'x\n')
    git('init', '-q')
    git('add', '-A')
    git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', 'x')
    git('rm', '-q', '--cached', '.env', 'conf/inner/key.txt')
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: root })
  /** `workspace` may be another folder than the repository. */
  const has = (rule: string, workspace = root) => {
    const { rules } = parseRules({ deny: [rule] })
    return createGitStore(workspace).hasDenied(rules, [join(root, '.git')])
  }

  test.each<[rule: (root: string) => string, has: boolean]>([
    [() => 'Read(.env)', true],
    [() => 'Read(./conf/**)', true],
    [() => 'Read(/conf/inner/key.txt)', true],
    [() => 'Read(**/key.txt)', true],
    [(root) => `Read(/${root}/.env)`, true],
    [(root) => `Read(/${root}/conf/**)`, true],
    [(root) => `Read(/${root}/**/key.txt)`, true],
    [(root) => `Read(/${root}/**)`, true],
    [() => 'Read(other.txt)', false],
    [(root) => `Read(/${root}/other.txt)`, false],
    [() => 'Read(//etc/passwd)', false],
    [() => 'Read(~/nothing-here)', false],
    [() => 'Edit(.env)', false],
  ])('%s: %s', async (rule, expected) => {
    expect(await has(rule(root))).toBe(expected)
  })

  test('is found in a repository inside of the workspace and around it, with rules of the workspace', async () => {
    const name = basename(root)
    const [above, below] = [dirname(root), join(root, 'conf')]
    const found = await Promise.all([
      ...[`Read(${name}/.env)`, `Read(${name.slice(0, -2)}*/.env)`, `Read(${name}/x.txt)`].map((rule) =>
        has(rule, above),
      ),
      ...['Read(inner/key.txt)', 'Read(.env)', 'Read(inner/x.txt)'].map((rule) => has(rule, below)),
    ])
    expect(found).toEqual([true, true, false, true, true, false])
  })

  test('is assumed where git cannot tell', async () => {
    writeFileSync(join(root, '.git/HEAD'), 'nonsense')
    expect(await has('Read(other.txt)')).toBe(true)
  })

  test('nothing that the repository says runs', async () => {
    const run = `touch ${join(root, 'ran')}`
    for (const key of ['core.fsmonitor', 'core.sshCommand', 'gpg.program', 'core.pager', 'diff.external'])
      git('config', key, run)
    git('config', 'remote.origin.url', `ext::${run}`)
    git('config', 'protocol.ext.allow', 'always')
    git('config', 'remote.origin.promisor', 'true')
    git('config', 'extensions.partialClone', 'origin')
    rmSync(join(root, '.git/objects'), { recursive: true })
    mkdirSync(join(root, '.git/objects'))
    await has('Read(.env)')
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })
})

test('commands of git that print no text of a file', () => {
  const harmless = [
    'git status --short',
    'git add -A && git commit -m "x"',
    'git add -u',
    'git log --oneline -5',
    'git checkout -b topic',
    'cd src && git status',
    'git stash',
    'git stash list',
    'git stash push -m x',
    'git status -sb',
    'git branch -avv',
  ]
  const others = [
    'git show',
    'git log -p',
    'git log -S x',
    'git log --patch',
    'git diff',
    'git grep x',
    'git cat-file -p HEAD:a',
    'git archive HEAD',
    'git stash show -p',
    'git stash show',
    'git commit -v',
    'git status -v',
    'git status --short --verbose',
    'git log --dd',
    'git log --check',
    'git stash list -U3',
    'git rebase --show-current-patch',
    // They copy the store, or files of the history under another name.
    'git init --bare copy.git && git push ./copy.git HEAD:x',
    'git push',
    'cd copy.git && git fetch ..',
    'git worktree add copy',
    'git add -p',
    'git blame a',
    'git status | cat .git/x',
    'git status > x',
    'git -c alias.x=show x',
    'git status; python3 x.py',
    'git rebase --exec "cat x" HEAD~1',
  ]
  expect([...harmless, ...others].filter((command) => printsNoContents(readScript(command)))).toEqual(harmless)
})

test('commands that run git', () => {
  const git = [
    'git status',
    'ls; git log',
    '/usr/bin/git x',
    'sh -c "git show"',
    'env git x',
    '/usr/lib/git-core/git-show',
  ]
  expect([...git, 'ls', 'npm test', 'echo git'].filter((command) => runsGit(readScript(command)))).toEqual(git)
})
