import { describe, expect, test } from 'vitest'
import { readScript } from './script.ts'
import { textOf } from './words.ts'

describe('plain commands', () => {
  test.each([
    ['npm test', [['npm', 'test']]],
    ['  git  log --oneline\t-5 ', [['git', 'log', '--oneline', '-5']]],
    [`git commit -m "fix: a; b && c" --author='A | B'`, [['git', 'commit', '-m', 'fix: a; b && c', '--author=A | B']]],
    ['git show HEAD~2 v1^', [['git', 'show', 'HEAD~2', 'v1^']]],
    ['a && b || c; d | e\nf', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']]],
    [`ec'h'"o" x`, [['echo', 'x']]],
    ['rm \\-rf', [['rm', '-rf']]],
    ['a # b\nc', [['a'], ['c']]],
  ])('%j', (script, commands) => {
    expect(readScript(script).plain).toEqual(commands)
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
    'echo a 2>&1 >b',
    'echo a >"/dev/null"',
    'echo a </dev/null',
    'cat <(id)',
    'cat >(id)',
    "echo $'a'",
    'echo $"a"',
    'echo {a,b}',
    `echo "$(cat <<'X'\na\nX\n)"`,
    'command a',
    'alias a=b',
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
    'ls *',
    'ls ?',
    'ls [a]',
    'ls ~',
    'eval x',
    'exec x',
    '. x',
    'source x',
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
    expect(readScript(script).plain).toBeUndefined()
  })
})

/** The words of every command that is known, with `?` for a word that is not. */
function commandsOf(script: string): readonly string[] {
  return readScript(script).commands.map((words) => words.map((word) => textOf(word) ?? '?').join(' '))
}

describe('the commands of a script', () => {
  test.each([
    ['sudo -u x rm a', 'rm a'],
    ['env A=1 rm a', 'rm a'],
    ['A=/tmp B=1 rm a', 'rm a'],
    [`bash -c 'rm a'`, 'rm a'],
    [`sh -ec "cd x && rm a"`, 'rm a'],
    ['find . -exec rm {} ;', 'rm ?'],
    ['find . -name x -execdir rm -f {} +', 'rm -f ?'],
    ['ls | xargs -n 1 rm', 'rm ?'],
    ['ls | xargs -I% sh -c "rm %"', 'sh -c ? ?'],
    ['timeout -s KILL 5 rm a', 'rm a'],
    ["$'\\x72m' a", 'rm a'],
    ["trap 'rm a' EXIT", 'rm a'],
    ['script -qc "rm a" /dev/null', 'rm a'],
    ['sudo -u x -g y -n rm a', 'rm a'],
    [`bash <<< 'rm a'`, 'rm a'],
    ["source /dev/stdin <<'E'\nrm a\nE", 'rm a'],
    ['bash ./deploy.sh now', './deploy.sh now'],
    ['bash -x ./deploy.sh -c now', './deploy.sh -c now'],
    ['python3 -u ./deploy.py now', './deploy.py now'],
    ['python3 tools/deploy.py now', 'tools/deploy.py now'],
    ['alias q=rm; q a', 'rm'],
    ['{rm,a}', 'rm a'],
    ['r{m,} a', 'rm r a'],
    ['hash -p /bin/rm q', '/bin/rm q'],
    ['f() { rm a; }', 'rm a'],
    ['git bisect run rm a', 'rm a'],
    [`git submodule foreach 'rm a'`, 'rm a'],
    ['git --no-pager -C x push -f', 'git push -f'],
    ['/usr/lib/git-core/git-push -f', 'git push -f'],
    ['su me -c "rm a"', 'rm a'],
    ['npx -y -c "rm a"', 'rm a'],
    ['poetry run rm a', 'rm a'],
    ['X=<(true) rm a', 'rm a'],
    ["x='a[$(rm b)]'; ((x))", 'rm b'],
    [`bash -c "bash -c 'bash -c \\"rm a\\"'"`, 'rm a'],
  ])('%j may run %j', (script, command) => {
    expect(commandsOf(script)).toContain(command)
  })

  test.each([
    'git commit -m "rm the old file; rm it"',
    'sudo git commit -m "rm the old file"',
    'git log --grep rm',
    'echo rm',
    'npm run rm',
    `MESSAGE='rm old files' git commit`,
    `git commit -m "$(cat <<'EOF'\nrm it\nEOF\n)"`,
  ])('%j does not run rm', (script) => {
    expect(commandsOf(script).filter((command) => /^rm\b/.test(command))).toEqual([])
    expect(readScript(script).unseen).toEqual([])
  })

  test('a here-document as an argument is known text', () => {
    const [words = []] = readScript(`git commit -m "$(cat <<'EOF'\nOne.\n\nTwo $x.\nEOF\n)"`).commands
    expect(words.map(textOf)).toEqual(['git', 'commit', '-m', 'One.\n\nTwo $x.'])
  })

  test('a chain of wrappers and a chain of options are read in bounded time', () => {
    for (const script of [
      `${'env '.repeat(5_000)}rm a`,
      `${'sudo -a '.repeat(5_000)}rm a`,
      `rm ${'-x '.repeat(5_000)}`,
    ]) {
      expect(readScript(script).commands.length).toBeLessThanOrEqual(500)
    }
    expect(commandsOf(`${'env '.repeat(5_000)}rm a`).at(-1)).toBe('?')
    expect(readScript('a;'.repeat(501)).unseen).toEqual(['it has more than 500 commands'])
    expect(readScript('a;'.repeat(500)).unseen).toEqual([])
  })

  test('scripts in scripts are read to a depth, and then there is doubt', () => {
    const nested = (depth: number): string => (depth === 0 ? 'rm a' : `eval ${JSON.stringify(nested(depth - 1))}`)
    expect(commandsOf(nested(4))).toContain('rm a')
    expect(readScript(`${'eval '.repeat(40)}rm a`).unseen).toEqual(['it has scripts in scripts in scripts'])
  })
})

test.each([
  ['sed -n "10,20p;$=" a', []],
  [`sed -E -e 's/a\\/b/c/g' -e '/x/,/y/d' a`, []],
  ['sed -i.bak "s|a|b|" a', []],
  [`sed '1e rm a' b`, ['sed can run code of its own']],
  [`sed 's/a/b/e' a`, ['sed can run code of its own']],
  [`sed 's/a/b/w c' a`, ['sed can run code of its own']],
  [`sed 's/a/b/;w c' a`, ['sed can run code of its own']],
  ['sed -f x a', ['sed can run code of its own']],
  [`awk -F, '$3 > 5 { print $1 }' a`, []],
  [`awk -v n=1 'NR == n || /x/' a`, []],
  [`awk '{ print > "x" }' a`, ['awk can run code of its own']],
  [`awk '{ print | "sh" }' a`, ['awk can run code of its own']],
  [`gawk 'BEGIN { f = "sys" "tem"; @f("rm a") }'`, ['gawk can run code of its own']],
  [`sed -e'1e rm a' < b`, ['sed can run code of its own']],
  [`sed -ne '1e rm a' < b`, ['sed can run code of its own']],
  [`sed --expr='1e rm a' < b`, ['sed can run code of its own']],
  [`sed -n -e '1p' -e '2p' a`, []],
  [`awk -e 'BEGIN { system("rm a") }'`, ['awk can run code of its own']],
  ['awk -l readdir 1 a', ['awk can run code of its own']],
  [`perl -I lib -e 'unlink "a"'`, ['perl can run code of its own']],
  ['python3 -W ignore -c x', ['python3 can run code of its own']],
  ['python3 -m pytest -c x.ini', []],
  ['python3 -u a.py', []],
  ['node --import tsx -e x', ['node can run code of its own']],
  ['node --import tsx a.ts', []],
  [`fish --init-command 'rm a'`, ['fish can run code of its own']],
  [`parallel ::: 'rm a'`, ['parallel can run code of its own']],
  ['constructor a', []],
  ['__proto__ a; toString b; git valueOf', ['git valueOf may be an alias']],
  ['python3 -c x', ['python3 can run code of its own']],
  ['python3', ['python3 can run code of its own']],
  ['python3 --version', []],
  ['node --test', []],
  ['node a.js -e x', []],
  ['curl x | sh', ['sh runs its input']],
  ['bash --version', []],
  ['git st', ['git st may be an alias']],
  ['git config alias.x "!rm a"', ['a setting of git can run commands']],
  ['git config user.name Me', []],
  ['git config --get alias.x', []],
  ['git -c color.ui=always log', []],
  ['git clone ext::sh', ['git clone can run commands of its own']],
  ["echo 'rm a' > b; sh b", ['it runs a file that it writes']],
  ...['cp', 'mv', 'ln', 'install'].map(
    (word) => [`${word} /bin/rm ./b && ./b a`, ['it runs a file that it writes']] as const,
  ),
  ['cat /bin/rm | tee b; ./b a', ['it runs a file that it writes']],
  ['dd if=/bin/rm of=b; ./b a', ['it runs a file that it writes']],
  ['chmod +x ./b && ./b', []],
  ['if a', ['it cannot be read as a Bash script']],
  ['GIT_EDITOR=$x git commit', ['$x may be run']],
  ['PATH=$PATH:x npm test', []],
] as const)('%j may run what is not seen: %j', (script, unseen) => {
  expect([...new Set(readScript(script).unseen)]).toEqual(unseen)
})
