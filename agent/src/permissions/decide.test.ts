import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { decide } from './decide.ts'
import { disk } from './disk.ts'
import { parseRules } from './rule.ts'
import { readScript } from './script.ts'

/** In the mode that asks nothing, so only rules that deny can stop a command. */
function run(command: string, ...deny: readonly string[]) {
  const { rules } = parseRules({ deny })
  return decide({ type: 'run', script: readScript(command) }, { mode: 'allow', rules, root: '/w' }).type
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

test('a pattern in place of a program asks, because it may mean a denied one', () => {
  const commands = ['/usr/bin/t*ch a', '/bin/[t]ouch a', '/bin/*', 'ls t*ch']
  expect(commands.map((command) => run(command, 'Bash(touch:*)'))).toEqual(['ask', 'ask', 'ask', 'allow'])
})

test('a rule that denies git push covers it after options of git', () => {
  const commands = ['git push', 'git -C . push', 'git --no-pager push -f', 'git -c a.b=c push', 'git pull']
  expect(commands.map((command) => run(command, 'Bash(git push:*)'))).toEqual(['deny', 'deny', 'deny', 'deny', 'allow'])
})

test('a rule that denies a path covers links to it and patterns in its folders', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'everlong-deny-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'config/keys'), { recursive: true })
  writeFileSync(join(root, 'config/keys/main.pem'), 'secret')
  symlinkSync('config/keys/main.pem', join(root, 'notes.txt'))
  symlinkSync('config', join(root, 'c'))
  vi.stubEnv('HOME', root)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { rules } = parseRules({ deny: ['Read(/config/keys/**)'] })
  const decided = (command: string) =>
    decide({ type: 'run', script: readScript(command) }, { mode: 'allow', rules, root, disk }).type
  for (const command of [
    'cat notes.txt',
    'cat c/keys/main.pem',
    'cp -r c/keys /tmp',
    'cat c*/keys/main.pem',
    'cat conf*/k??s/main.pem',
    'cat */*/main.pem',
    'cd c && cat k*/main.pem',
    'cat ~/conf*/keys/main.pem',
    `cat ${root}/c*/keys/main.pem`,
  ]) {
    expect([command, decided(command)]).toEqual([command, 'deny'])
  }
  expect(['cat c/other', 'ls', 'cat x*/keys.txt', 'cat */README.md'].map(decided)).toEqual(Array(4).fill('allow'))
})

describe('rules about hosts', () => {
  const fetched = (rule: string, host: string, ...addresses: readonly string[]) =>
    decide(
      { type: 'fetch', host, addresses, isPrivate: false },
      { mode: 'allow', rules: parseRules({ deny: [rule] }).rules, root: '/w' },
    ).type

  test.each([
    ['WebFetch(domain:127.0.0.1)', 'localhost', ['127.0.0.1', '::1']],
    ['WebFetch(domain:127.0.0.1)', '[::ffff:127.0.0.1]', ['::ffff:127.0.0.1']],
    ['WebFetch(domain:127.0.0.1)', '[::ffff:7f00:1]', ['::ffff:7f00:1']],
    ['WebFetch(domain:127.0.0.1)', '127.1.2.3', ['127.1.2.3']],
    ['WebFetch(domain:localhost)', '[::1]', ['::1']],
    ['WebFetch(domain:localhost)', 'app.localhost', ['127.0.0.1']],
    ['WebFetch(domain:localhost)', 'my-machine', ['127.0.0.1']],
    ['WebFetch(domain:10.0.0.5)', 'internal.example.com', ['10.0.0.5']],
    ['WebFetch(domain:[fd00::1])', 'internal.example.com', ['fd00::1']],
    ['WebFetch(domain:example.com)', 'example.com.', ['93.184.216.34']],
    ['WebFetch(domain:*.example.com)', 'a.example.com.', ['93.184.216.34']],
  ] as const)('%s denies %s', (rule, host, addresses) => {
    expect(fetched(rule, host, ...addresses)).toBe('deny')
  })

  test.each([
    ['WebFetch(domain:127.0.0.1)', 'example.com', ['93.184.216.34']],
    ['WebFetch(domain:10.0.0.5)', '10.0.0.50', ['10.0.0.50']],
    ['WebFetch(domain:*.example.com)', 'badexample.com', ['93.184.216.34']],
  ] as const)('%s does not deny %s', (rule, host, addresses) => {
    expect(fetched(rule, host, ...addresses)).toBe('allow')
  })
})

test('a word that no program takes for a file does not make a path rule doubt', () => {
  const commands = ['echo "$x"', 'test -n "$x"', 'cat "$x"', 'echo a > "$x"', 'cd "$x" && ls', '"$x"']
  expect(commands.map((command) => run(command, 'Read(.env)'))).toEqual(['allow', 'allow', 'ask', 'ask', 'ask', 'ask'])
})

test('every folder that a script may be in counts, and too many make doubt', () => {
  const commands = [
    'cd a; (cd b); cd keys; cat main.pem',
    'cd x || cd a; cat keys/main.pem',
    'env -C a/keys cat main.pem',
    'cd a && cat main.pem',
    'cd 1; cd 2; cd 3; cd 4; cd 5; cat main.pem',
  ]
  expect(commands.map((command) => run(command, 'Read(/a/keys/**)'))).toEqual(['deny', 'deny', 'deny', 'allow', 'ask'])
})

test('a connection of a command asks, unless a rule is about the host', () => {
  const decided = (host: string, lists: Parameters<typeof parseRules>[0], mode: 'ask' | 'plan' | 'allow' = 'ask') =>
    decide({ type: 'connect', host }, { mode, rules: parseRules(lists).rules, root: '/w' })
  expect(decided('a.com', {})).toEqual({
    type: 'ask',
    reason: 'the network is closed for commands in the sandbox',
    rules: [{ tool: 'Network', type: 'domain', domain: 'a.com' }],
  })
  const types = [
    decided('a.com', { allow: ['Network(domain:a.com)'] }),
    decided('b.a.com', { allow: ['Network(domain:*.a.com)'] }),
    decided('a.com', { allow: ['Network'] }),
    decided('a.com', {}, 'allow'),
    decided('a.com', { allow: ['WebFetch(domain:a.com)', 'Bash', 'Network(domain:b.com)'] }),
    decided('a.com', { allow: ['Network'], deny: ['Network(domain:a.com)'] }),
    decided('a.com', { deny: ['Network'] }, 'allow'),
    decided('127.0.0.1', { deny: ['WebFetch(domain:localhost)'] }, 'allow'),
    decided('a.com', { deny: ['WebFetch'] }),
  ].map(({ type }) => type)
  expect(types).toEqual(['allow', 'allow', 'allow', 'allow', 'ask', 'deny', 'deny', 'deny', 'ask'])
})

test('inside of the sandbox rules about commands hold, and files need no question', () => {
  const inside = (command: string, deny: readonly string[], mode: 'ask' | 'plan' = 'ask') =>
    decide(
      { type: 'run', script: readScript(command), sandbox: 'inside' },
      { mode, rules: parseRules({ deny }).rules, root: '/w' },
    ).type
  expect([
    inside('npm test', []),
    inside('cat "$FILE"', ['Read(.env)']),
    inside('cat .env', ['Read(.env)']),
    inside('$x y', ['Bash(rm:*)']),
    inside('rm x', ['Bash(rm:*)']),
    inside('touch x', [], 'plan'),
    inside('ls', [], 'plan'),
  ]).toEqual(['allow', 'allow', 'deny', 'ask', 'deny', 'deny', 'allow'])
})

test('what may print a denied file asks in every mode, and is allowed only word for word', () => {
  const rules = (allow: readonly string[]) => parseRules({ allow }).rules
  const access = { type: 'run', script: readScript('git show'), sandbox: 'inside', doubt: 'it is in git' } as const
  expect(decide(access, { mode: 'allow', rules: rules(['Bash(git:*)']), root: '/w' })).toEqual({
    type: 'ask',
    reason: 'it is in git',
    rules: [{ tool: 'Bash', type: 'command', script: 'git show' }],
  })
  expect(decide(access, { mode: 'ask', rules: rules(['Bash(git show)']), root: '/w' }).type).toBe('allow')
})
