import { describe, expect, test } from 'vitest'
import { decide } from './decide.ts'
import { formatRule, misspelledServers, parseRule, parseRules } from './rule.ts'
import { readScript } from './script.ts'

describe('a rule', () => {
  test.each([
    ['Bash', { tool: 'Bash', type: 'any' }],
    ['Bash(*)', { tool: 'Bash', type: 'any' }],
    ['Bash(npm test)', { tool: 'Bash', type: 'command', script: 'npm test' }],
    ['Bash(echo (a))', { tool: 'Bash', type: 'command', script: 'echo (a)' }],
    ['Bash(git log:*)', { tool: 'Bash', type: 'command-prefix', words: ['git', 'log'] }],
    ['Bash(git log *)', { tool: 'Bash', type: 'command-prefix', words: ['git', 'log'] }],
    ['Bash(git push*)', { tool: 'Bash', type: 'command-pattern', pattern: 'git push*' }],
    ['Bash(git * main)', { tool: 'Bash', type: 'command-pattern', pattern: 'git * main' }],
    ['Bash(ls *.ts *)', { tool: 'Bash', type: 'command-pattern', pattern: 'ls *.ts *' }],
    ['Bash(ls \\*.ts)', { tool: 'Bash', type: 'command', script: 'ls *.ts' }],
    [`Bash('a b' "c d" HEAD~1:*)`, { tool: 'Bash', type: 'command-prefix', words: ['a b', 'c d', 'HEAD~1'] }],
    ['Edit(src/**)', { tool: 'Edit', type: 'path', pattern: 'src/**' }],
    ['Read(//etc/**)', { tool: 'Read', type: 'path', pattern: '//etc/**' }],
    ['Network(domain:Example.com)', { tool: 'Network', type: 'domain', domain: 'example.com' }],
    ['WebFetch(domain:Example.com)', { tool: 'WebFetch', type: 'domain', domain: 'example.com' }],
    ['mcp__github__create_issue', { tool: 'mcp__github__create_issue', type: 'any' }],
    ['mcp__github__*', { tool: 'mcp__github__*', type: 'any' }],
    ['Skill(release)', { tool: 'Skill', type: 'argument', value: 'release' }],
  ])('%s is read', (text, rule) => {
    expect(parseRule(text)).toEqual({ type: 'rule', rule })
  })

  test.each([
    'Bash(git log:*)',
    'Bash(npm test)',
    'Bash(git push*)',
    'Bash(ls \\*.ts)',
    'Edit(src/**)',
    'WebFetch(domain:example.com)',
    'mcp__a__b',
    'Skill(release)',
  ])('%s is written as it was read', (text) => {
    const read = parseRule(text)
    expect(read.type === 'rule' && formatRule(read.rule)).toBe(text)
  })

  test.each([
    ['', 'expected a tool'],
    ['Bash(', 'expected a tool'],
    ['Bash()', 'the parentheses are empty'],
    ['Ba*', 'only mcp__server__* may end with a star'],
    ['WebFetch(example.com)', 'expected WebFetch(domain:example.com)'],
    ['Network(example.com)', 'expected Network(domain:example.com)'],
    ['Bash(a && b:*)', 'expected the first words of one command'],
    ['Bash($(x):*)', 'expected the first words of one command'],
    ['Bash(A=1 b:*)', 'expected the first words of one command'],
    ['Raed(.env)', 'there is no tool Raed. Did you mean Read? Known: Bash, Read, Edit,'],
    ['read(.env)', 'there is no tool read. Did you mean Read?'],
    ['bash(rm:*)', 'there is no tool bash. Did you mean Bash?'],
    ['MultiEdit(src/**)', 'there is no tool MultiEdit. Known: Bash,'],
    ['Zzzzzzzzzzzz', 'there is no tool Zzzzzzzzzzzz. Known: Bash,'],
    ['mcp__', 'expected mcp__SERVER or mcp__SERVER__TOOL'],
    ['TodoWrite(x)', 'rules for TodoWrite take no argument'],
    [`Read(${'a'.repeat(600)})`, 'longer than 500 characters'],
  ])('%j is refused with a reason', (text, why) => {
    expect(parseRule(text)).toEqual({ type: 'wrong', problem: expect.stringContaining(why) })
  })
})

test('every mistake in a list is named with its place, and the others count', () => {
  const { rules, problems } = parseRules({ allow: ['Bash(npm test)', 'Bash()'], deny: ['Read(.env)', '(x)'] })
  expect(problems).toEqual([
    expect.stringContaining('permissions.allow[1] "Bash()"'),
    expect.stringContaining('permissions.deny[1] "(x)"'),
  ])
  expect([rules.allow.length, rules.deny.length]).toEqual([1, 1])
})

test('a denied server with nearly the name of one that is there is pointed out', () => {
  const { rules } = parseRules({ deny: ['mcp__githb__push', 'mcp__githb', 'mcp__files', 'mcp__elsewhere__x', 'Bash'] })
  expect(misspelledServers(rules.deny, ['github', 'files'])).toEqual([
    'A rule denies the MCP server githb, which is not there. Did you mean github? Nothing of github is denied by it.',
  ])
  expect(misspelledServers(rules.deny, [])).toEqual([])
  // Also where only rules for single tools name it.
  const one = parseRules({ deny: ['mcp__githb__push__all'] }).rules.deny
  expect(misspelledServers(one, ['github'])).toHaveLength(1)
})

describe('stars in rules for commands', () => {
  const decided = (rule: string, command: string, list: 'allow' | 'deny') => {
    const { rules } = parseRules({ [list]: [rule] })
    const mode = list === 'allow' ? 'ask' : 'allow'
    return decide({ type: 'run', script: readScript(command) }, { mode, rules, root: '/w' }).type
  }

  test.each([
    ['Bash(rm *)', ['rm x', 'rm', '/bin/rm -rf x'], ['rmdir x', 'echo rm x']],
    ['Bash(git push*)', ['git push', 'git push -f', 'git -C . push', 'git pushy'], ['git pull', 'git log push']],
    ['Bash(git * main)', ['git push origin main', 'git merge main'], ['git push origin dev', 'git log main x']],
    ['Bash(* --force)', ['git push --force', 'x --force'], ['git push --forced']],
    ['Bash(./deploy.sh:*)', ['./deploy.sh', 'bash deploy.sh x', 'sudo ./deploy.sh'], ['cat deploy.sh']],
    ['Bash(npm publish:*)', ['npm publish', 'npm --silent publish', 'npm --tag x publish'], ['npm run publish']],
  ] as const)('%s denies these and not others', (rule, denied, allowed) => {
    expect(denied.map((command) => decided(rule, command, 'deny'))).toEqual(denied.map(() => 'deny'))
    expect(allowed.map((command) => decided(rule, command, 'deny'))).toEqual(allowed.map(() => 'allow'))
  })

  test.each([
    ['Bash(git push*)', 'git $x', 'ask'],
    ['Bash(git push*)', 'cargo $x', 'allow'],
    ['Bash(git * main)', 'git push "$x"', 'ask'],
    ['Bash(cargo test)', 'cargo $x', 'ask'],
    ['Bash(cargo test)', 'cargo test $x', 'ask'],
    ['Bash(cargo test)', 'cargo test "$x"', 'allow'],
    ['Bash(cargo test)', 'cargo test x', 'allow'],
    // It may be --script-shell.
    ['Bash(rm:*)', 'npm test "$x"', 'ask'],
    ['Bash(rm:*)', 'npm test -- "$x"', 'allow'],
  ] as const)('with %s denied, %s is %s', (rule, command, decision) => {
    expect(decided(rule, command, 'deny')).toBe(decision)
  })

  test.each([
    [
      'Bash(npm run *)',
      ['npm run test', 'npm run'],
      ['npm run test; rm x', 'npm runx', 'npm run $x', 'npm run test > x'],
    ],
    ['Bash(git * main)', ['git merge main'], ['git merge main x', 'git merge main && rm x']],
    ['Bash(git log*)', ['git log -5'], ['git log --output=x', 'git log | sh']],
  ] as const)('%s allows these and not others', (rule, allowed, asked) => {
    expect(allowed.map((command) => decided(rule, command, 'allow'))).toEqual(allowed.map(() => 'allow'))
    expect(asked.map((command) => decided(rule, command, 'allow'))).toEqual(asked.map(() => 'ask'))
  })
})
