// Which commands would delete what no checkpoint has, in a real repository.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { maxKeptBytes } from '../checkpoints/shadow.ts'
import { lossOf } from './losses.ts'
import { readScript } from './script.ts'

let root = ''

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'everlong-losses-')))
  const write = (path: string, text = 'x') => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  execFileSync('git', ['init', '-q', root])
  write('.gitignore', '*.sqlite\n/dist/\n/local/\n*.log\n')
  for (const path of ['src/a.js', 'data.sqlite', 'db/b.sqlite', 'db/c.txt', 'dist/a.js', 'local/notes', 'x.log'])
    write(path)
  for (const path of ['exact.bin', 'large.bin', 'sub/.git/HEAD']) write(path)
  truncateSync(join(root, 'exact.bin'), maxKeptBytes)
  truncateSync(join(root, 'large.bin'), maxKeptBytes + 1)
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const deletes = (path: string) => `it deletes ${path}, which /rewind cannot restore`

test.each([
  ['rm -rf data.sqlite .git/objects .git/refs', deletes('.git/objects')],
  ['rm data.sqlite', deletes('data.sqlite')],
  ['rm -- data.sqlite', deletes('data.sqlite')],
  ['/bin/rm -f ./data.sqlite', deletes('data.sqlite')],
  ['cd db && rm b.sqlite', deletes('db/b.sqlite')],
  ['rm -r db', deletes('db/b.sqlite')],
  ['rm -f *.sqlite', deletes('data.sqlite')],
  ['bash -c "rm data.sqlite"', deletes('data.sqlite')],
  ['rm -rf local', deletes('local/')],
  ['rm -rf sub', deletes('sub')],
  ['rm -rf .', deletes('the workspace')],
  ['rm -rf ..', deletes('..')],
  ['rm large.bin', deletes('large.bin')],
  ['truncate -s 0 data.sqlite', deletes('data.sqlite')],
  ['find . -delete', deletes('the workspace')],
  ['find .git -type f -delete', deletes('.git')],
  ['git clean -fdx', 'it deletes files that git ignores'],
  ['git stash drop', 'it deletes stashed work'],
  ['git stash clear', 'it deletes stashed work'],
  ['git branch -D work', 'it deletes a branch that may not be merged'],
  ['git reflog expire --all', 'it deletes the history of branches'],
])('%s', async (command, reason) => {
  expect(await lossOf(readScript(command), root)).toBe(reason)
})

test.each([
  'ls -la',
  'rm src/a.js',
  'rm -rf src',
  'rm -rf dist',
  'rm -f x.log',
  'rm missing.sqlite',
  'rm exact.bin',
  'rm -rf /tmp/elsewhere',
  'cat data.sqlite',
  'echo rm data.sqlite',
  'find . -name "*.pyc" -delete',
  'git clean -fd',
  'git clean -nfdx',
  'git stash',
  'git stash pop',
  'git branch -d work',
  'git rm src/a.js',
  'git status',
])('%s loses nothing', async (command) => {
  expect(await lossOf(readScript(command), root)).toBe(undefined)
})
