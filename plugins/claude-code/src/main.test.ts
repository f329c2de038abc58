// The program as the agent starts it: how it ends when something is wrong.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

function run(words: readonly string[], input: string) {
  const main = join(import.meta.dirname, 'main.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', main, ...words], {
    input,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('a transcript that is missing is named, without the words of the system', () => {
  const event = { hook_event_name: 'SessionStart', session_id: 'abc', transcript_path: '/nowhere/abc.jsonl' }
  const { status, stderr } = run(['hook', import.meta.dirname], JSON.stringify(event))
  const why = 'There is no transcript at /nowhere/abc.jsonl, so nothing can be compared with it.'
  expect([status, stderr]).toEqual([1, `everlong: ${why}\n`])
})

test('an event that is no JSON is reported with exit code 1, because 2 would block what the agent does', () => {
  const { status, stdout, stderr } = run(['hook'], 'no json')
  expect([status, stdout, /^everlong: .+\n$/.test(stderr)]).toEqual([1, '', true])
})
