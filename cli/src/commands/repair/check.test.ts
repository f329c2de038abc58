import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, sessionFolder } from '../../testing/harness.ts'

const folder = sessionFolder()
afterAll(folder.remove)

test.for([
  ['an empty file', '', 'is empty.'],
  [
    'a file of something else',
    '{"name":"x"}\n',
    'does not look like a transcript: no entry of a conversation was found in it. It can be one of Claude Code, Codex, pi, Gemini CLI, Copilot CLI, Cursor or opencode.',
  ],
])('%s is not called free of errors', async ([name, bytes, words]) => {
  const file = folder.writeBytes(`${name?.replaceAll(' ', '-')}.jsonl`, bytes ?? '')
  expect(await everlong(['fsck', file])).toEqual({ exitCode: 1, stdout: '', stderr: `everlong: ${file} ${words}\n` })
  const { exitCode, stdout } = await everlong(['fsck', file, '--json'])
  expect([exitCode, JSON.parse(stdout).isTranscript]).toEqual([1, false])
})

test('of a file without one whole record the damage is shown, and no repair is offered', async () => {
  const file = folder.writeBytes('cut.jsonl', session().user('hello').text.slice(0, -20))
  const { exitCode, stdout, stderr } = await everlong(['fsck', file])
  expect([exitCode, stdout.split('\n').slice(1)]).toEqual([
    1,
    [
      '  1 error, 0 notes',
      '',
      'Errors',
      '  line 1  was cut while it was written: 313 characters of a record that never',
      '          became whole',
      '',
    ],
  ])
  expect(stderr).toContain('does not look like a transcript')
})

test('one error among whole records is enough for exit code 1, and none gives 0', async () => {
  const { text } = session().user('one').assistant('two')
  const torn = folder.writeBytes('one-error.jsonl', `${text}{"type":"user","uuid":"u9","mess`)
  const { exitCode, stdout } = await everlong(['fsck', torn])
  expect([exitCode, stdout.includes('1 error,')]).toEqual([1, true])
  expect((await everlong(['fsck', folder.writeBytes('whole.jsonl', text)])).exitCode).toBe(0)
})
