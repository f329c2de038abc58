import { expect, test } from 'vitest'
import { readScript } from '../permissions/script.ts'
import { printsNoContents, runsGit } from './git-store.ts'

test('commands of git that print no text of a file', () => {
  const harmless = [
    'git status --short',
    'git add -A && git commit -m "x"',
    'git add -u',
    'git log --oneline -5',
    'git checkout -b topic',
    'cd src && git status',
    'git stash',
    'git branch -a',
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
