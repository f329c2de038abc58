import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { headlessPerson } from './headless.ts'

test('the rule that would allow a denied call can be copied into a shell, whatever the command is', async () => {
  const rule = `Bash(echo 'a'; touch "$(pwd)/x"; echo ')`
  const { person, denied } = headlessPerson()
  const request = { toolUseId: 'a', tool: 'Bash', title: 'Run echo', rules: [rule] }
  for (const _ of [1, 2]) await person.askPermission(request, new AbortController().signal)
  const [line = '', ...more] = denied()
  const words = /--allow (.*) allows it\)$/s.exec(line)?.[1] ?? ''
  expect(spawnSync('/bin/sh', ['-c', `printf %s ${words}`], { encoding: 'utf8' }).stdout).toBe(rule)
  expect(more).toEqual([])
})
