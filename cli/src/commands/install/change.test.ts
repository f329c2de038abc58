import { expect, test } from 'vitest'
import { make, undo } from './change.ts'

const change = { type: 'toml', path: '/c.toml', text: '[ours]\nkey = 1\n' } as const

test.each([
  ['a file of others', '[theirs]\nkey = 2\n', false, '[theirs]\nkey = 2\n'],
  ['an empty file', '', false, ''],
  ['no file', undefined, true, undefined],
])('undoing a change to %s leaves what was there', (_, text, isNew, left) => {
  const done = make(change, text)
  if (done.type !== 'changed' || !done.made) throw new Error(done.type)
  expect(done.text).toContain('key = 1')
  expect(undo(change.path, done.made, { text: done.text ?? '', isNew })).toEqual({ type: 'changed', text: left })
})

test('a new file to which a person added something stays with it', () => {
  const done = make(change, undefined)
  if (done.type !== 'changed' || !done.made) throw new Error(done.type)
  const undone = undo(change.path, done.made, { text: `${done.text}\n[theirs]\nkey = 2\n`, isNew: true })
  expect(undone).toMatchObject({ type: 'changed', text: expect.stringContaining('[theirs]') })
  expect(undone).not.toMatchObject({ text: expect.stringContaining('[ours]') })
})
