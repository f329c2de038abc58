// Commands in the sandbox cannot change which settings and hooks git uses, in any of the places where git looks for them.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { closedFolder, whyNoSandbox } from '../testing/sandbox.ts'
import type { Bench } from '../testing/tool-bench.ts'
import { benches } from '../testing/with-bench.ts'

const why = await whyNoSandbox()
if (why !== undefined) console.log(`The tests of repositories in the sandbox are skipped: ${why}.`)

vi.setConfig({ testTimeout: 120_000 })
const set = benches()

const setBench = (workspace?: string) =>
  set({
    ...{ base: closedFolder(), sandbox: { mode: 'on' }, answer: () => ({ type: 'deny' }) },
    environment: { PATH: process.env.PATH, HOME: process.env.HOME },
    ...(workspace === undefined ? {} : { workspace }),
  })

const run = (bench: Bench, command: string) => bench.say('Bash', { command })

const person = '-c user.name=A -c user.email=a@example.com'

/** What the person sees, after the command. */
function git(folder: string, ...words: readonly string[]): string {
  return execFileSync('git', [...person.split(' '), ...words], { cwd: folder, encoding: 'utf8' }).trim()
}

function repository(folder: string): string {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '-q')
  writeFileSync(join(folder, 'a.txt'), 'a\n')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-qm', 'One')
  return folder
}

/** Another repository in the workspace, whose settings have `user.evil`. */
const evil = 'git init -q ev; git -C ev config user.evil yes'
const evilOf = (folder: string) => git(folder, 'config', '--get', '--default', 'no', 'user.evil')

test.skipIf(why !== undefined)(
  'settings from elsewhere do not stay in a store, for several commands at once neither',
  async () => {
    const bench = await setBench()
    repository(bench.folder)
    const plant = `${evil}; echo ../ev/.git > .git/commondir; git config user.evil`
    // While it runs, only the command itself can be misled.
    expect(await run(bench, plant)).toBe('yes')
    await expect.poll(() => existsSync(join(bench.folder, '.git/commondir'))).toBe(false)
    expect(evilOf(bench.folder)).toBe('no')
    await Promise.all([run(bench, `${plant}; sleep 1`), run(bench, `sleep 0.5; ${plant}`)])
    await expect.poll(() => existsSync(join(bench.folder, '.git/commondir'))).toBe(false)
    expect(
      await run(bench, `git add -A . ':!ev'; git ${person} commit -qm Two --allow-empty; git log --format=%s`),
    ).toBe('Two\nOne')
  },
)

test.skipIf(why !== undefined)('a nested repository keeps its settings too', async () => {
  const bench = await setBench()
  repository(join(bench.folder, 'nested'))
  await run(bench, `${evil}; echo ../../ev/.git > nested/.git/commondir`)
  await expect.poll(() => existsSync(join(bench.folder, 'nested/.git/commondir'))).toBe(false)
  expect(evilOf(join(bench.folder, 'nested'))).toBe('no')
})

test.skipIf(why !== undefined)(
  'a worktree keeps its link, and other worktrees of its repository keep theirs',
  async () => {
    const first = await setBench()
    const main = repository(join(first.outside, 'main'))
    const [tree, other] = [join(first.outside, 'tree'), join(first.outside, 'other')]
    for (const path of [tree, other]) git(main, 'worktree', 'add', '-q', path)
    const bench = await setBench(tree)
    for (const command of [
      `${evil}; echo "gitdir: $PWD/ev/.git" > .git`,
      `${evil}; rm .git; ln -s ev/.git .git`,
      `${evil}; echo $PWD/ev/.git > $(git rev-parse --git-dir)/commondir`,
      `${evil}; echo $PWD/ev/.git > $(git rev-parse --git-common-dir)/worktrees/other/commondir`,
      `${evil}; cd $(git rev-parse --git-common-dir); mv worktrees w2; cp -r w2 worktrees; echo ${tree}/ev/.git > worktrees/other/commondir`,
    ]) {
      await run(bench, command)
      expect([command, evilOf(tree), evilOf(other), evilOf(main)]).toEqual([command, 'no', 'no', 'no'])
    }
    expect(await run(bench, `echo b > b.txt; git add b.txt; git ${person} commit -qm Two; git log --format=%s`)).toBe(
      'Two\nOne',
    )
  },
)

test.skipIf(why !== undefined)('a folder with no repository, and one in a repository around it, get none', async () => {
  const bare =
    "mkdir -p objects refs; echo 'ref: refs/heads/x' > HEAD; git config -f config user.evil yes; git config -f config core.bare false"
  const around = repository(join((await setBench()).outside, 'around'))
  mkdirSync(join(around, 'part'))
  for (const workspace of [undefined, join(around, 'part')]) {
    const bench = await setBench(workspace)
    const { root } = { root: workspace ?? bench.folder }
    for (const command of [`git init -q; git config user.evil yes`, `mkdir .git; cd .git; ${bare}`, bare]) {
      await run(bench, command)
      await expect.poll(() => existsSync(join(root, 'HEAD'))).toBe(false)
      expect([command, evilOf(root)]).toEqual([command, 'no'])
    }
    await expect.poll(() => readdirSync(root).sort()).toEqual(['config', 'objects', 'refs'])
  }
  const bench = await setBench(join(around, 'part'))
  expect(
    await run(bench, `git add config; git ${person} commit -qm Two; git log --format=%s; git status --short`),
  ).toBe('Two\nOne')
})
