import { expect, test } from 'vitest'
import { resumeLine } from './screen.ts'

test.each([
  ['.', {}, 'everlong agent --resume 1a88'],
  ['../my app', {}, "everlong agent '../my app' --resume 1a88"],
  ['~/code', { npm_command: 'exec' }, "npx @everlong/cli agent '~/code' --resume 1a88"],
])('leaving the folder %s says how to come back', (folder, env, command) => {
  expect(resumeLine(folder, '1a88', { cwd: '/', env })).toBe(`Continue this session with: ${command}`)
})
