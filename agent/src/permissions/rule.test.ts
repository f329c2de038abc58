import { describe, expect, test } from 'vitest'
import { formatRule, parseRule, parseRules } from './rule.ts'

describe('a rule', () => {
  test.each([
    ['Bash', { tool: 'Bash', type: 'any' }],
    ['Bash(*)', { tool: 'Bash', type: 'any' }],
    ['Bash(npm test)', { tool: 'Bash', type: 'command', script: 'npm test' }],
    ['Bash(echo (a))', { tool: 'Bash', type: 'command', script: 'echo (a)' }],
    ['Bash(git log:*)', { tool: 'Bash', type: 'command-prefix', words: ['git', 'log'] }],
    ['Edit(src/**)', { tool: 'Edit', type: 'path', pattern: 'src/**' }],
    ['Read(//etc/**)', { tool: 'Read', type: 'path', pattern: '//etc/**' }],
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
    ['Bash(a && b:*)', 'expected the first words of one command'],
    ['Bash($(x):*)', 'expected the first words of one command'],
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
