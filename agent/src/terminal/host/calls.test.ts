import { expect, test } from 'vitest'
import { callOf, finishedCall } from './calls.ts'

const folder = '/work'
const input = { file_path: '/work/a.ts', old_string: 'one\ntwo', new_string: 'one\nthree' }
const edit = callOf({ toolUseId: 't1', name: 'Edit', input }, { folder })

test('an edit that worked shows its change, without line numbers', () => {
  const finished = finishedCall(edit, { content: 'Changed a.ts (+1 −1 lines).', isError: false }, folder)
  expect(finished).toMatchObject({ type: 'call-finished', call: { id: 't1', isError: false } })
  expect(edit.diff).toMatch(/\n one\n-two\n\+three\n/)
  expect(edit.diff).not.toContain('@@')
  expect(finished).toMatchObject({ call: { diff: edit.diff } })
})

test('an edit that failed shows no change, because there is none', () => {
  const failed = finishedCall(edit, { content: 'a.ts: old_string was not found.', isError: true }, folder)
  expect(failed).toMatchObject({ call: { isError: true, outcome: expect.stringContaining('was not found') } })
  expect(failed).not.toHaveProperty('call.diff')
})

test('everything that is no text has a word in the output', () => {
  const content = [{ type: 'text', text: 'A picture:' }, { type: 'image' }]
  expect(finishedCall(edit, { content, isError: false }, folder)).toMatchObject({
    call: { output: 'A picture:\n[image]' },
  })
})
