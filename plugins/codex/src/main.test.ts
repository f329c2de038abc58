// The program as the agent starts it: how it ends when something is wrong.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

function run(words: readonly string[], input: string) {
  const main = join(import.meta.dirname, 'main.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', main, ...words], {
    input,
    encoding: 'utf8',
    // The program keeps its compiled code next to itself, which is the source folder here.
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
  })
  return { status, stdout, stderr }
}

test('an unknown command is reported on stderr, with exit code 1', () => {
  expect(run(['nonsense'], '')).toEqual({ status: 1, stdout: '', stderr: 'everlong: unknown command nonsense\n' })
})

test('a rollout that is missing is named, without the words of the system', () => {
  const event = { hook_event_name: 'SessionStart', source: 'compact', transcript_path: '/nowhere/r.jsonl' }
  const { status, stderr } = run(['hook'], JSON.stringify(event))
  const why = 'There is no transcript at /nowhere/r.jsonl, so nothing can be compared with it.'
  expect([status, stderr]).toEqual([1, `everlong: ${why}\n`])
})

test('an event that is no JSON is reported on stderr, with exit code 1: Codex shows it and continues', () => {
  const { status, stdout, stderr } = run(['hook'], 'no json')
  expect([status, stdout, /^everlong: .+\n$/.test(stderr)]).toEqual([1, '', true])
})
