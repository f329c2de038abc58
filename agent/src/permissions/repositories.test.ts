// Repositories whose settings, links or index make git do more than look at the workspace.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorkspace, sorted } from '../testing/decide-command.ts'
import { setFolder } from '../testing/folder.ts'

const temporary = setFolder()

function workspace(): string {
  const root = makeWorkspace(temporary())
  mkdirSync(join(root, '.git', 'hooks'), { recursive: true })
  writeFileSync(join(root, '.git', 'config'), '[core]\n\tbare = false\n[remote "origin"]\n\turl = x\n')
  return root
}

function git(folder: string, ...words: readonly string[]): string {
  const person = ['-c', 'user.name=A', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always']
  return execFileSync('git', [...person, ...words], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
}

/** A real repository with one file. */
function repository(folder: string, ...options: readonly string[]): string {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '-q', ...options)
  writeFileSync(join(folder, 'secret'), 'topsecret\n')
  git(folder, 'add', 'secret')
  git(folder, 'commit', '-qm', 'x')
  return folder
}

const decided = (root: string, ...commands: readonly string[]) => {
  const { allow, ask } = sorted(commands, root, { mode: 'ask' })
  expect([...allow, ...ask].toSorted()).toEqual(commands.toSorted())
  return { allow, ask }
}

test.each([
  ['a setting', 'config', '[core]\n\tfsmonitor = ./evil\n'],
  ['a setting on the line of its section', 'config', '[diff]external=./evil\n'],
  ['settings elsewhere', 'config', '[include]\n\tpath = ../evil\n'],
  ['settings of a worktree', 'config.worktree', '[core]\n\tfsmonitor = ./evil\n'],
  ['a hook', 'hooks/post-index-change', '#!/bin/sh\n'],
])('git asks in a repository that names a program in %s', (_, file, text) => {
  const root = workspace()
  writeFileSync(join(root, '.git', file), text)
  expect(sorted(['git status', 'cd src && git log', 'ls'], root, { mode: 'ask' })).toEqual({
    allow: ['ls'],
    ask: ['git status', 'cd src && git log'],
    deny: [],
  })
})

test.each([
  ['the program of a remote', '[remote "origin"]\n\turl = .\n\tpromisor = true\n\tuploadpack = ./evil\n'],
  ['the helper of a remote', '[remote "origin"]\n\tvcs = evil\n'],
  ['another transport', '[protocol "ext"]\n\tallow = always\n'],
  ['an address', '[remote "origin"]\n\turl = ext::./evil\n'],
  ['a proxy', '[core]\n\tgitProxy = ./evil\n'],
])('git asks in a repository that names a program as %s', (_, text) => {
  const root = workspace()
  writeFileSync(join(root, '.git', 'config'), text)
  expect(sorted(['git log -p'], root, { mode: 'ask' }).ask).toEqual(['git log -p'])
})

function bareRepository(folder: string, settings: string): void {
  for (const name of ['objects', 'refs']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(folder, 'config'), settings)
}

test('git asks if its settings cannot be read, because they are too long or in a pipe', () => {
  const root = workspace()
  for (const name of ['long', 'pipe', 'good']) mkdirSync(join(root, name, '.git'), { recursive: true })
  const comment = `#${'x'.repeat(1024 * 1024)}`
  writeFileSync(join(root, 'long', '.git', 'config'), `${comment}\n[core]\n\tfsmonitor = ./evil\n`)
  execFileSync('mkfifo', [join(root, 'pipe', '.git', 'config')])
  writeFileSync(join(root, 'good', '.git', 'config'), comment.slice(0, 1024 * 1024))
  const [allow, ask] = [['cd good && git status'], ['cd long && git status', 'cd pipe && git status']] as const
  expect(sorted([...allow, ...ask], root, { mode: 'ask' })).toEqual({ allow, ask, deny: [] })
})

test('git asks in a bare repository that names a program, and in the folders below it', () => {
  const root = workspace()
  bareRepository(join(root, 'evil'), '[core]\n\tfsmonitor = ./evil\n')
  bareRepository(join(root, 'good'), '[core]\n\tbare = true\n')
  // Not a repository, so git tries the folder itself.
  mkdirSync(join(root, 'evil', '.git'))
  symlinkSync(join(root, 'evil', 'refs'), join(root, 'src', 'refs'))
  const ask = ['cd evil && git status', 'git -C evil/refs log', 'cd src/refs && git status']
  const allow = ['git status', 'cd good && git log', 'cd evil && ls']
  expect(sorted([...ask, ...allow], root, { mode: 'ask' })).toEqual({ allow, ask, deny: [] })
  expect(sorted([...ask, ...allow], root, { mode: 'plan' })).toEqual({ allow, ask: [], deny: ask })
  // Git accepts this link, though it leads nowhere.
  unlinkSync(join(root, 'evil', 'HEAD'))
  symlinkSync('refs/heads/main', join(root, 'evil', 'HEAD'))
  expect(sorted(ask, root, { mode: 'ask' }).ask).toEqual(ask)
})

test('git asks in a worktree that names a program, or whose main repository does', () => {
  const root = workspace()
  const main = join(root, '.git')
  mkdirSync(join(main, 'worktrees', 'w'), { recursive: true })
  writeFileSync(join(main, 'worktrees', 'w', 'commondir'), '../..\n')
  writeFileSync(join(main, 'worktrees', 'w', 'gitdir'), `${join(root, 'w', '.git')}\n`)
  mkdirSync(join(root, 'w'))
  writeFileSync(join(root, 'w', '.git'), `gitdir: ${join(main, 'worktrees', 'w')}\n`)
  expect(sorted(['git status'], join(root, 'w'), { mode: 'ask' }).allow).toEqual(['git status'])
  writeFileSync(join(main, 'worktrees', 'w', 'config.worktree'), '[core]\n\tfsmonitor = ./evil\n')
  expect(sorted(['git status'], join(root, 'w'), { mode: 'ask' }).ask).toEqual(['git status'])
  unlinkSync(join(main, 'worktrees', 'w', 'config.worktree'))
  writeFileSync(join(main, 'config'), '[core]\n\tfsmonitor = ./evil\n')
  expect(sorted(['git status'], join(root, 'w'), { mode: 'ask' }).ask).toEqual(['git status'])
})

test('git asks in a repository that shows files or objects of other places', () => {
  const root = workspace()
  const outside = repository(join(root, '..', 'outside'))
  const make = (name: string) => repository(join(root, name))
  git(make('tree'), 'config', 'core.worktree', outside)
  git(make('quoted'), 'config', 'core.worktree', `${outside}#`)
  writeFileSync(join(make('shared'), '.git/objects/info/alternates'), `${outside}/.git/objects\n`)
  writeFileSync(join(make('relative'), '.git/objects/info/alternates'), '../../../../outside/.git/objects\n')
  mkdirSync(join(root, 'file'))
  writeFileSync(join(root, 'file/.git'), `gitdir: ${outside}/.git\n`)
  mkdirSync(join(root, 'link'))
  symlinkSync(join(outside, '.git'), join(root, 'link/.git'))
  writeFileSync(join(make('common'), '.git/commondir'), `${outside}/.git\n`)
  unlinkSync(join(root, 'common/.git/config'))
  renameSync(join(make('objects'), '.git/objects'), join(root, 'objects/old'))
  symlinkSync(join(outside, '.git/objects'), join(root, 'objects/.git/objects'))
  symlinkSync(join(outside, '.git/objects/pack'), join(make('pack'), '.git/objects/zz'))
  const names = ['tree', 'quoted', 'shared', 'relative', 'file', 'link', 'common', 'objects', 'pack']
  const ask = names.flatMap((name) => [`git -C ${name} diff`, `cd ${name} && git show HEAD`])
  // Without a question, this is what they would show.
  expect(git(join(root, 'file'), 'show', 'HEAD:secret')).toBe('topsecret\n')
  expect(decided(root, ...ask)).toEqual({ allow: [], ask })
})

test('git does not ask in a repository that shows only files of the workspace', () => {
  const root = workspace()
  const make = (name: string) => repository(join(root, name))
  git(make('plain'), 'config', 'core.worktree', '..')
  writeFileSync(join(make('shared'), '.git/objects/info/alternates'), `# a\n${root}/plain/.git/objects\n`)
  git(join(root, 'plain'), 'worktree', 'add', '-q', '../tree')
  const commands = ['plain', 'shared', 'tree'].map((name) => `git -C ${name} show HEAD`)
  expect(decided(root, ...commands)).toEqual({ allow: commands, ask: [] })
})

test('a workspace that is a worktree or a submodule of a repository around it does not ask', () => {
  const base = temporary()
  const main = repository(join(base, 'main'))
  git(main, 'worktree', 'add', '-q', '../tree')
  git(main, 'submodule', 'add', '-q', join(base, 'main'), 'sub')
  for (const root of [join(base, 'tree'), join(main, 'sub')]) {
    expect(decided(root, 'git show HEAD')).toEqual({ allow: ['git show HEAD'], ask: [] })
    // Another folder cannot say that it is the same one.
    const copy = join(root, 'copy')
    mkdirSync(copy)
    const store = git(root, 'rev-parse', '--absolute-git-dir')
    writeFileSync(join(copy, '.git'), `gitdir: ${store}`)
    expect(decided(root, 'git -C copy show HEAD').ask).toEqual(['git -C copy show HEAD'])
  }
})

test('git asks if a repository in its index names a program, as a folder or as a submodule', () => {
  const root = repository(join(temporary(), 'work'))
  repository(join(root, 'nested'))
  git(root, 'add', 'nested')
  expect(decided(root, 'git status').allow).toEqual(['git status'])
  const ran = join(root, 'ran')
  git(join(root, 'nested'), 'config', 'core.fsmonitor', `touch ${ran}; false`)
  expect(decided(root, 'git status', 'git diff').ask).toEqual(['git status', 'git diff'])
  // Without a question, this is what it would run.
  git(root, 'status')
  expect(readFileSync(ran, 'utf8')).toBe('')
  const main = repository(join(temporary(), 'main'))
  git(main, 'submodule', 'add', '-q', root, 'deep/sub')
  expect(decided(main, 'git status').allow).toEqual(['git status'])
  git(join(main, 'deep/sub'), 'config', 'diff.external', './evil')
  expect(decided(main, 'git status', 'ls')).toEqual({ allow: ['ls'], ask: ['git status'] })
})

test('a repository inside that is not in the index is not looked at', () => {
  const root = repository(join(temporary(), 'work'))
  git(repository(join(root, 'nested')), 'config', 'core.fsmonitor', './evil')
  expect(decided(root, 'git status', 'git -C nested status')).toEqual({
    allow: ['git status'],
    ask: ['git -C nested status'],
  })
})
