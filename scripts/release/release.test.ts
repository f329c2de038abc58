// Releases in a clone of this repository.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { manifestOf, packageFolders } from '../package/manifest.ts'
import { output, temporaryFolder } from '../package/testing.ts'
import { root } from '../steps.ts'
import { release } from './release.ts'

const isClone = existsSync(join(root, '.git'))
const folder = temporaryFolder()
afterAll(folder.remove)
const clone = join(folder.path, 'clone')
const next = `${Number(manifestOf('.').version.split('.')[0]) + 1}.0.0`
const today = new Date(2026, 4, 6)

const git = (...args: readonly string[]) => output('git', args, { cwd: clone })
const versionIn = (path: string) => JSON.parse(readFileSync(join(clone, path), 'utf8')).version

function released(...words: readonly string[]): { readonly code: number; readonly lines: readonly string[] } {
  const lines: string[] = []
  const code = release(words, { root: clone, today, say: (line) => lines.push(line) })
  return { code, lines }
}

beforeAll(() => {
  if (!isClone) return
  output('git', ['clone', '--quiet', '--depth', '1', '--no-tags', `file://${root}`, clone], { cwd: folder.path })
  git('config', 'user.name', 'Somebody')
  git('config', 'user.email', 'somebody@example.com')
  // Right after a release there is nothing yet.
  const changelog = join(clone, 'CHANGELOG.md')
  writeFileSync(
    changelog,
    readFileSync(changelog, 'utf8').replace('## Unreleased\n', '## Unreleased\n\n- New: a test.\n'),
  )
  git('commit', '--quiet', '--all', '--message', 'Say something')
}, 60_000)

test.runIf(isClone)('a dry run lists the files and writes nothing', () => {
  const before = git('rev-parse', 'HEAD')
  const { code, lines } = released(next, '--dry-run')
  expect([code, lines.at(-1)]).toEqual([
    0,
    `A dry run: nothing was written. It would be committed as "Release ${next}" and tagged v${next}.`,
  ])
  expect(lines).toContain(`${next}  engine/package.json`)
  expect(lines).toContain(`${next}  plugins/claude-code/.claude-plugin/plugin.json`)
  expect([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]).toEqual(['', before, ''])
})

test.runIf(isClone)('a tree with changes is left alone', () => {
  writeFileSync(join(clone, 'note.txt'), 'Mine.')
  const { code, lines } = released('patch')
  git('clean', '--quiet', '--force')
  expect([code, lines]).toEqual([
    1,
    ['release: the tree has changes. Commit them or put them away first:\n?? note.txt'],
  ])
})

test.runIf(isClone)('words that are no release are refused', () => {
  const usage = 'release: Usage: npm run release -- patch|minor|major|x.y.z [--dry-run]'
  expect([released(), released('patch', 'minor'), released('huge').code]).toEqual([
    { code: 1, lines: [usage] },
    { code: 1, lines: [usage] },
    1,
  ])
})

test.runIf(isClone)('a commit that git refuses leaves the files as they were', () => {
  writeFileSync(join(clone, '.git/hooks/pre-commit'), '#!/bin/sh\necho not today >&2\nexit 1\n', { mode: 0o755 })
  const { code, lines } = released('patch')
  output('rm', ['.git/hooks/pre-commit'], { cwd: clone })
  expect([code, lines.at(-1), git('status', '--porcelain')]).toEqual([
    1,
    'release: git could not commit, so the files are as they were:\nnot today',
    '',
  ])
})

test.runIf(isClone)(
  'a release changes version lines and the changelog only, commits, tags, and says how to publish',
  () => {
    const { code, lines } = released(next)
    expect([code, lines.slice(-6)]).toEqual([
      0,
      [
        `Committed and tagged v${next}. To publish it:`,
        '  npm run test:package',
        '  npm run package',
        `  npm publish dist/everlong-${next}.tgz`,
        `  npm publish dist/everlong-cli-${next}.tgz --access public`,
        '  git push --follow-tags',
      ],
    ])
    expect([git('status', '--porcelain'), git('log', '-1', '--format=%s %D').trim()]).toEqual([
      '',
      expect.stringMatching(`^Release ${next} HEAD -> .*tag: v${next}`),
    ])
    expect(packageFolders(clone)).toContain('plugins/claude-code')
    for (const room of packageFolders(clone))
      expect([room, versionIn(join(room, 'package.json'))]).toEqual([room, next])
    const added = git('diff', '-U0', 'HEAD~', '--', '*.json')
      .split('\n')
      .filter((line) => /^[+-] /.test(line))
    expect(added.filter((line) => !/^[+-] +"(version|everlong|@everlong\/[\w-]+)": "[\d.]+",?$/.test(line))).toEqual([])
    expect(git('diff', '-U0', 'HEAD~', '--', 'CHANGELOG.md').split('\n').slice(-4)).toEqual([
      '@@ -4,0 +5,2 @@',
      `+## ${next} (2026-05-06)`,
      '+',
      '',
    ])
  },
)

test.runIf(isClone)('a second release without a word in the changelog is refused', () => {
  expect(released('patch')).toEqual({
    code: 1,
    lines: ['release: CHANGELOG.md says nothing below "## Unreleased". Write what changed, and commit it.'],
  })
})
