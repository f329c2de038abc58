import { expect, test } from 'vitest'
import { parseStatus } from './workspace.ts'

const empty = {
  oid: undefined,
  branch: undefined,
  upstream: undefined,
  staged: [],
  unstaged: [],
  untracked: [],
  conflicts: [],
}

test('the old name of a renamed file is no file of its own, whatever it looks like', () => {
  const renamed = '2 R. N... 100644 100644 100644 1111 1111 R100 new name'
  expect(parseStatus(`${renamed}\0? old\0? other\0`, '')).toEqual({
    ...empty,
    staged: [{ path: 'new name', change: 'renamed' }],
    untracked: [{ path: 'other' }],
  })
})

test('a record that was cut off is passed over', () => {
  expect(parseStatus('? whole\0? cut o', '')).toEqual({ ...empty, untracked: [{ path: 'whole' }] })
})

test('an upstream that is gone has no counts', () => {
  const output = '# branch.oid abc\0# branch.head main\0# branch.upstream origin/main\0'
  expect(parseStatus(output, '')).toEqual({ ...empty, oid: 'abc', branch: 'main', upstream: { name: 'origin/main' } })
})
