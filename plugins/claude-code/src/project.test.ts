import { homedir } from 'node:os'
import { expect, test } from 'vitest'
import { projectFolder, sessionName } from './project.ts'

test.each([
  [{ HOME: '/home/a' }, '/home/a/.claude/projects/-work-my-app'],
  [{ HOME: '/home/a', CLAUDE_CONFIG_DIR: '' }, '/home/a/.claude/projects/-work-my-app'],
  [{ HOME: '/home/a', CLAUDE_CONFIG_DIR: '/etc/claude' }, '/etc/claude/projects/-work-my-app'],
  [{}, `${homedir()}/.claude/projects/-work-my-app`],
])('the folder of a project with %j', (env, folder) => {
  expect(projectFolder('/work/my.app', env)).toBe(folder)
})

test.each([
  ['a0-b_1', 'a0-b_1'],
  ['x'.repeat(100), 'x'.repeat(100)],
  ['x'.repeat(101), undefined],
  ['', undefined],
  ['../a', undefined],
  [7, undefined],
])('the session id %j', (id, name) => {
  expect(sessionName(id)).toBe(name)
})
