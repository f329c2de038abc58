import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkNames, root } from './steps.ts'

function check(...names: readonly string[]) {
  const script = join(root, 'scripts/check.ts')
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...names], { encoding: 'utf8' })
  return { ran: [...stdout.matchAll(/^[✓✗] (\S+) \(/gm)].map(([, name]) => name), stderr, status }
}

test('npm run check -- NAME runs this check and no other', () => {
  expect(check('public-names')).toEqual({ ran: ['public-names'], stderr: '', status: expect.any(Number) })
})

test('a check that does not exist is an error that lists the others, and nothing runs', () => {
  const stderr = `There is no check lint. Checks: ${checkNames.join(', ')}.\n`
  expect(check('rooms', 'lint')).toEqual({ ran: [], stderr, status: 2 })
})

test('AGENTS.md lists the checks', () => {
  const list = checkNames.map((name) => `\`${name}\``).join(', ')
  expect(readFileSync(join(root, 'AGENTS.md'), 'utf8')).toContain(`\`-- NAME\` runs one of ${list} |`)
})
