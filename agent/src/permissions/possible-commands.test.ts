import { expect, test } from 'vitest'
import { possibleCommands } from './possible-commands.ts'

test.each([
  ['sudo -u x rm -rf a', 'rm'],
  ['env A=1 rm a', 'rm'],
  ['A=1 rm a', 'rm'],
  ['/bin/rm a', 'rm'],
  ['x; rm a', 'rm'],
  ['x $(rm a)', 'rm'],
  ['x `rm a`', 'rm'],
  [`bash -c 'rm a'`, 'rm'],
  [`sh -ec "cd x && rm a"`, 'rm'],
  [`bash -c "rm $x"`, 'rm'],
  ['find . -exec rm {} ;', 'rm'],
  ['find . -exec rm {} +', 'rm'],
  ['ls | xargs -n 1 rm', 'rm'],
  ['timeout 5 rm a', 'rm'],
  ['r""m a', 'rm'],
  ['r\\m a', 'rm'],
  ['(rm a)', 'rm'],
  ['{ rm a; }', 'rm'],
  ['x > y; rm a', 'rm'],
  ['x & rm a', 'rm'],
  ['if true; then rm a; fi', 'rm'],
  ['if x; then y; else rm a; fi', 'rm'],
  ['while rm a; do break; done', 'rm'],
  ['for x in a b; do rm a; done', 'rm'],
  ['! rm a', 'rm'],
  ['coproc rm a', 'rm'],
  ['case x in x) rm a;; esac', 'rm'],
  ['r\\\nm a', 'rm'],
  ["$'rm' a", 'rm'],
  ["$'\\x72m' a", 'rm'],
  ["$'\\162m' a", 'rm'],
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the shell's own
  ['R=rm; $R a', 'rm'],
  ['R="rm"; ${R} a', 'rm'],
  ['${X:-rm} a', 'rm'],
  ['$(echo rm) a', 'rm'],
  ['env -S "rm a"', 'rm'],
  ["trap 'rm a' EXIT", 'rm'],
  ['script -qc "rm a" /dev/null', 'rm'],
  ['sudo -u x -g y -n rm a', 'rm'],
  ["printf 'rm a' | bash", 'rm'],
  ['bash <(echo rm a)', 'rm'],
  ['source /dev/stdin <<< "rm a"', 'rm'],
  ["git -c alias.x='!rm a' x", 'rm'],
  [`python3 -c "import os; os.system('rm a')"`, 'rm'],
  [`awk 'BEGIN{system("rm a")}'`, 'rm'],
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the shell's own
])('%j may run %s', (script, program) => {
  expect(possibleCommands(script).map(([first]) => first)).toContain(program)
})

test.each(['git commit -m "rm the old file; rm it"', 'git log --grep rm', 'echo rm'])(
  '%j does not run rm',
  (script) => {
    expect(possibleCommands(script).map(([first]) => first)).not.toContain('rm')
  },
)

test.each(['git -C . push -f', 'git --no-pager -c a.b=c push -f', 'git --git-dir=x push -f', 'G=git; $G push -f'])(
  '%j may run git push, whatever options come first',
  (script) => {
    expect(possibleCommands(script)).toContainEqual(['git', 'push', '-f'])
  },
)

test('a chain of wrappers takes time in proportion to its length', () => {
  const chain = possibleCommands(`${'env '.repeat(5_000)}rm a`)
  expect(chain.length).toBeLessThan(6_000)
  expect(chain).toContainEqual(['rm', 'a'])
})
