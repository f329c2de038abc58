import { describe, expect, test } from 'vitest'
import { onlyLooks, simpleCommands } from './shell.ts'

describe('simple commands', () => {
  test.each([
    ['npm test', [['npm', 'test']]],
    ['  git  log --oneline\t-5 ', [['git', 'log', '--oneline', '-5']]],
    [`git commit -m "fix: a; b && c" --author='A | B'`, [['git', 'commit', '-m', 'fix: a; b && c', '--author=A | B']]],
    ['git show HEAD~2 v1^', [['git', 'show', 'HEAD~2', 'v1^']]],
    ['a && b || c; d | e\nf', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']]],
    [`ec'h'"o" x`, [['echo', 'x']]],
  ])('%j', (script, commands) => {
    expect(simpleCommands(script)).toEqual(commands)
  })

  test.each([
    'echo $(rm -rf .)',
    'echo `id`',
    'echo "$(id)"',
    'echo "`id`"',
    'echo $HOME',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    'echo ${x@P}',
    'cat < a',
    'echo a > b',
    'echo a >> b',
    'echo a 2>&1',
    'cat <(id)',
    'a & b',
    'a &',
    'a |& b',
    '(a)',
    '{ a; }',
    'A=1 b',
    'PATH=. npm test',
    'if a; then b; fi',
    'for x in a; do b; done',
    '! a',
    'a \\\n b',
    'rm \\-rf',
    'ls *',
    'ls ?',
    'ls [a]',
    'ls ~',
    'eval x',
    'exec x',
    '. x',
    'source x',
    'a # b',
    'a "b',
    "a 'b",
    'a ;; b',
    'cat <<X\nX',
    'a\rb',
    'a\u0000b',
    '',
    ' ; ',
    '"" a',
  ])('there is doubt about %j', (script) => {
    expect(simpleCommands(script)).toBeUndefined()
  })
})

test('commands that only look are known, in plain forms only', () => {
  const looks = ['ls -la src', 'git status', 'git log -5 | head', 'cat a && wc -l a']
  const changes = [
    'rm a',
    'git push',
    'git log --output=a',
    'git diff --ext-diff',
    'ls > a',
    'cat $(x)',
    'npm test',
    'git',
  ]
  expect(looks.filter(onlyLooks)).toEqual(looks)
  expect(changes.filter(onlyLooks)).toEqual([])
})
