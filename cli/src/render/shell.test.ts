import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { root } from '../testing/harness.ts'
import { programName } from './shell.ts'

test('commands to copy start with what the person typed: in a checkout, through npx, or installed', () => {
  expect([
    programName({ cwd: root, env: {} }),
    programName({ cwd: tmpdir(), env: { npm_command: 'exec' } }),
    programName({ cwd: tmpdir(), env: {} }),
  ]).toEqual(['./everlong', 'npx @everlong/cli', 'everlong'])
})
