import { describe, expect, test } from 'vitest'
import type { ToolUseBlock } from '../message/block.ts'
import { type StepResult, stepOf } from './steps.ts'

const use = (name: string, input: unknown): ToolUseBlock => ({ type: 'tool_use', id: 't', name, input })
const fine: StepResult = { text: 'done', isError: false, request: '' }
const step = (name: string, input: unknown, result: Partial<StepResult> = {}) =>
  stepOf(use(name, input), { ...fine, ...result })?.text

describe('one line for each step', () => {
  test('an edit and a write name the file and show what was put there', () => {
    expect(step('Edit', { file_path: '/p/src/core/a.ts', old_string: 'x', new_string: 'const `a` = 1' })).toContain(
      "core/a.ts: `x → const 'a' = 1`",
    )
    expect(step('Write', { file_path: '/p/a.md', content: 'One.\nTwo.' })).toContain('p/a.md: `One. Two.`')
    expect(step('Edit', { file_path: '/p/a.ts', new_string: 'x' }, { isError: true })).toBe(undefined)
  })

  test('a command says how it ended; one that only read is told by what it showed', () => {
    const ended = (command: string, how: 'well' | 'badly' | 'unfinished', outcome = '') =>
      step('Bash', { command }, { command: { ended: how, outcome } })
    expect(ended('cd /p && npm test | tail -3', 'well', '3 passed')).toContain('`npm test` → ok: 3 passed')
    expect(ended('npm test', 'badly', '1 failed')).toContain('`npm test` → failed: 1 failed')
    expect(ended('npm run dev', 'unfinished')).toContain('`npm run dev` → not finished when last seen')
    expect(step('Bash', { command: 'git status' }, { text: '', command: { ended: 'well', outcome: '' } })).toBe(
      undefined,
    )
    expect(ended('git status', 'badly', 'not a repository')).toContain('failed: not a repository')
  })

  test('a read is left out, unless the user pointed at the file, and a search is told by what it found', () => {
    const read = (request: string, more: Partial<StepResult> = {}) =>
      step('Read', { file_path: '/p/docs/plan.md' }, { text: 'Step one.', request, ...more })
    expect(read('Go on.')).toBe(undefined)
    expect(read('Do what docs/plan.md says: plan.md')).toBe('plan.md: Step one.')
    expect(read('Do what plan.md says', { isError: true })).toBe(undefined)
    expect(step('Grep', { pattern: 'x' }, { text: 'a.ts:1:x' })).toBe('searched for `x` → a.ts:1:x')
    expect(step('WebFetch', { url: 'https://a.example/x' }, { request: 'See https://a.example/x', text: 'It.' })).toBe(
      'https://a.example/x: It.',
    )
  })

  test('patches and sub-agents are told; to-dos stand elsewhere as they now are', () => {
    expect(step('apply_patch', { input: '*** Update File: a/b.go\n*** Add File: c.go' })).toContain('a/b.go, c.go')
    expect(step('Task', { description: 'Find it' }, { text: 'Found in a.ts.' })).toBe(
      'the sub-agent for "Find it" reported: Found in a.ts.',
    )
    expect(step('TaskUpdate', { taskId: '7', status: 'completed' })).toBe(undefined)
    expect(step('TodoWrite', { todos: [{ content: 'x' }] })).toBe(undefined)
  })
})
