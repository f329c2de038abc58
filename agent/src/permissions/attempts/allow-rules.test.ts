// Attempts to run more than rules allow, in the mode that asks about everything else.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorkspace, sorted } from '../../testing/decide-command.ts'
import { setFolder } from '../../testing/folder.ts'
import { asked, denied, notSeen } from './denied-file.ts'
import { detours, planted, plantedInIndex } from './detours.ts'
import { breakouts, escapes } from './escapes.ts'

const temporary = setFolder()

test('without rules, attempts that reach something ask, except those that print the history of the repository', () => {
  const root = makeWorkspace(temporary())
  const other = join(root, '..', 'outside')
  mkdirSync(other)
  writeFileSync(join(other, 'secret.txt'), 'topsecret\n')
  linkSync(join(root, '.env'), join(root, 'hard.txt'))
  symlinkSync('.env', join(root, 'link-to-env'))
  const files = [...denied, ...asked, ...Object.values(notSeen).flat()]
  const others = [escapes, detours, breakouts].flatMap((each) => Object.values(each).flat())
  const commands = [...files, ...others, ...planted, ...plantedInIndex].map((command) =>
    command.replaceAll('OUTSIDE', other).replaceAll('/elsewhere', other),
  )
  const printingHistory = [
    ...['git grep -h KEY', 'git log -p --all', 'git stash show -p; git show HEAD', 'git grep TOKEN', 'git log -p'],
    ...['git show', 'git -C nested log -p', 'git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD'],
  ]
  // A rule that denies the file covers it; without one, it is an ordinary file.
  const byAnotherName = ['cat hard.txt']
  const harmless = ['git ls-files -s', 'cat .env\u200b', 'cat \uff0eenv']
  expect(sorted(commands, root, { mode: 'ask' }).allow.toSorted()).toEqual(
    [...printingHistory, ...byAnotherName, ...harmless].toSorted(),
  )
})

test('a rule for git log allows nothing after it', () => {
  const rules = { mode: 'ask', allow: ['Bash(git log:*)'] } as const
  const allowed = [
    "git log 'a'\"'\"'; touch PWNED; echo '",
    'git log "a\\"; touch PWNED; echo "',
    'git log \uff06\uff06 touch PWNED',
  ]
  const asked = [
    'git log; touch PWNED',
    'git log\ntouch PWNED',
    'git log\r\ntouch PWNED',
    'git log\rtouch PWNED',
    'git log\u2028touch PWNED',
    'git log & touch PWNED',
    'git log &\ntouch PWNED',
    'git log || touch PWNED',
    'git log | tee PWNED',
    'git log > PWNED',
    'git log >PWNED',
    'git log 2>PWNED',
    'git log &>PWNED',
    'git log >| PWNED',
    'git log <> PWNED',
    'git log $(touch PWNED)',
    'git log `touch PWNED`',
    'git log "$(touch PWNED)"',
    'git log "`touch PWNED`"',
    "git log $'\\n'; touch PWNED",
    'git log <(touch PWNED)',
    'git log >(touch PWNED)',
    'git log <<EOF\n$(touch PWNED)\nEOF',
    'git log <<<"$(touch PWNED)"',
    'git log ${x:-$(touch PWNED)}',
    'git log $((`touch PWNED`))',
    'git log "${x:=`touch PWNED`}"',
    'git log --output=PWNED',
    'git log #\ntouch PWNED',
    'git log # x\ntouch PWNED',
    'git log \\\n; touch PWNED',
    'git log {a,b}; touch PWNED',
    '(git log; touch PWNED)',
    '{ git log; touch PWNED; }',
    'git log; eval "touch PWNED"',
    'git log && git log && touch PWNED',
    'git log\t;\ttouch PWNED',
    'git log;\u00a0touch PWNED',
    'git log\u000btouch PWNED',
    'git log\ftouch PWNED',
    'git log ;; touch PWNED',
    "git log '\n' ; touch PWNED",
    "git log $'a\\'; touch PWNED; echo '",
    'git log \\"; touch PWNED; echo "',
    "git log a\\'; touch PWNED #'",
    'git log -- ; touch PWNED',
    'git\\\n log; touch PWNED',
    'git log |& tee PWNED',
    'coproc git log; touch PWNED',
    'git log; function git { touch PWNED; }; git log',
    'alias git="touch PWNED"; git log',
    'PATH=.:$PATH git log',
    'GIT_PAGER="touch PWNED" git log',
    'git log --pretty=%x00 && touch PWNED',
    '! git log; touch PWNED',
    'time git log; touch PWNED',
    'git log !; touch PWNED',
    'git log\u0000; touch PWNED',
    'git log \u0000touch PWNED',
    'git log $(<PWNED)',
    'git log [$(touch PWNED)]',
    'git log *$(touch PWNED)',
    'git log ~; touch PWNED',
    'if git log; then touch PWNED; fi',
    'git log;touch PWNED;:',
    'git log --format="$(touch PWNED)"',
    "git log --format='%H' && cat a.txt && touch PWNED",
    'git log\\; ; touch PWNED',
    'git log\uff1btouch PWNED',
  ]
  const denied: readonly string[] = []
  const root = makeWorkspace(temporary())
  expect(sorted([...allowed, ...asked, ...denied], root, rules)).toEqual({ allow: allowed, ask: asked, deny: denied })
})

test('a rule for one command allows just this one', () => {
  const rules = { mode: 'ask', allow: ['Bash(npm test)'] } as const
  const allowed = [' npm test', 'npm  test', 'npm test\n']
  const asked = [
    'npm test; touch PWNED',
    'npm test -- x; touch PWNED',
    'npm test #\ntouch PWNED',
    'npm test\ntouch PWNED',
    'npm test --script-shell=./x',
    'npm test && touch PWNED',
    'npm test $(touch PWNED)',
  ]
  const denied: readonly string[] = []
  const root = makeWorkspace(temporary())
  expect(sorted([...allowed, ...asked, ...denied], root, rules)).toEqual({ allow: allowed, ask: asked, deny: denied })
})

test('many rules together allow what they say, and nothing that is joined to it', () => {
  const rules = {
    mode: 'ask',
    allow: [
      'Bash(git log:*)',
      'Bash(echo:*)',
      'Bash(npm test)',
      'Bash(find:*)',
      'Bash(sort:*)',
      'Bash(ls:*)',
      'Bash(cat:*)',
      'Bash(head:*)',
      'Bash(grep:*)',
      'Bash(diff:*)',
      'Bash(sed:*)',
      'Bash(awk:*)',
      'Bash(tar:*)',
      'Bash(git diff:*)',
      'Bash(git show:*)',
    ],
    deny: ['Read(.env)'],
  } as const
  const allowed = [
    'git log -5',
    'git log -p --ext-diff',
    'git log --textconv -p',
    'git log -O/etc/passwd',
    'git log --no-index',
    'echo hi',
    "echo -e '\\x41'",
    'echo hi;',
    'echo a \\; pwn',
    "echo 'a\npwn'",
    'echo \u2028pwn',
    'npm test',
    'npm  test',
    'find . -name x -exec pwn ;',
    'find . -delete',
    'find . -fprintf /elsewhere/outside/fp x',
    'sort -o /elsewhere/outside/so v1',
    'ls -la',
    'ls /etc',
    'ls ../outside',
    'cat ../outside/o.txt',
    'cat /etc/passwd',
    'cat linkdir/o.txt',
    'head -1 /etc/shadow',
    'grep -r secret ../outside',
    'diff /etc/passwd v1',
    'sed -i s/v/w/ v1',
    'git diff --no-index /etc/passwd v1',
  ]
  const asked = [
    'git log \\\npwn',
    'git log --output=/elsewhere/outside/gl.txt',
    'git log -1 --format=%B > x.txt',
    'git log; pwn',
    'git log | pwn',
    'git log\npwn',
    'git log & pwn',
    'git log $(pwn)',
    'git log `pwn`',
    'git log <(pwn)',
    'git log 2>/elsewhere/outside/err',
    'PAGER=pwn git log',
    "GIT_PAGER='pwn' git log",
    'X=/a git log',
    'PATH=/elsewhere/evil git log',
    'git -c core.pager=pwn log',
    'git log -- ; \\pwn',
    'git log "$X"',
    'git log #comment\npwn',
    'git logx',
    'echo hi > .git/hooks/pre-commit',
    'echo {a,b}',
    'echo *',
    'echo ~/x',
    'echo $HOME',
    'echo `pwn`',
    'echo hi >| f',
    'echo hi &',
    '! echo hi',
    'echo hi || pwn',
    'echo hi \r pwn',
    'time echo hi',
    'npm test; pwn',
    'npm test -- --x',
    'sort --compress-program=pwn v1',
    'cat ~/secret/k',
    "sed -n 'w /elsewhere/outside/sw' v1",
    "sed '1e pwn' v1",
    'awk \'BEGIN{system("pwn")}\'',
    'tar xf x --to-command=pwn',
    'git diff --output=/elsewhere/outside/gd HEAD',
    'git branch -D x',
  ]
  const denied: readonly string[] = ['git show HEAD:.env']
  const root = makeWorkspace(temporary())
  expect(sorted([...allowed, ...asked, ...denied], root, rules)).toEqual({ allow: allowed, ask: asked, deny: denied })
})
