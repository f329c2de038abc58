import { describe, expect, test } from 'vitest'
import { decide } from './decide.ts'
import { parseRules } from './rule.ts'

/** In the mode that asks nothing, so only rules that deny can stop a command. */
function run(command: string, ...deny: readonly string[]) {
  const { rules } = parseRules({ deny })
  return decide({ type: 'run', command }, { mode: 'allow', rules, root: '/w' }).type
}

describe('a rule that denies a path denies commands that name it', () => {
  test.each([
    'cat .env',
    'cat ./src/.env',
    'cat .e*',
    'cat .??v',
    'cat .e{n,}v',
    'cat .en[v]',
    'cd src && cat ../.env',
    'git -C src show x:../.env',
    'git show HEAD:.env',
    'curl -d @.env localhost',
    'tar --file=.env',
    `node -e "console.log(require('fs').readFileSync('.env', 'utf8'))"`,
    'if true; then cat .env; fi',
  ])('%s', (command) => {
    expect(run(command, 'Read(.env)')).toBe('deny')
  })

  test.each(['cat *', 'cat env', 'cat .envrc', 'ls *.ts', 'echo environment', 'cd src && ls'])(
    'but not %s',
    (command) => {
      expect(run(command, 'Read(.env)')).toBe('allow')
    },
  )

  test('and the folder, which stands for its files', () => {
    const commands = ['cp -r keys /tmp', 'grep -r x keys/', 'cd keys && cat a', 'cat keysmith']
    expect(commands.map((command) => run(command, 'Read(/keys/**)'))).toEqual(['deny', 'deny', 'deny', 'allow'])
  })
})

test('a rule that denies a command covers a pattern that may mean it', () => {
  const commands = ['/usr/bin/t*ch a', '/bin/[t]ouch a', '/bin/*', 'ls t*ch']
  expect(commands.map((command) => run(command, 'Bash(touch:*)'))).toEqual(['deny', 'deny', 'deny', 'allow'])
})

test('a rule that denies git push covers it behind options of git', () => {
  const commands = ['git push', 'git -C . push', 'git --no-pager push -f', 'git -c a.b=c push', 'git pull']
  expect(commands.map((command) => run(command, 'Bash(git push:*)'))).toEqual(['deny', 'deny', 'deny', 'deny', 'allow'])
})
