import { expect, test } from 'vitest'
import { readPatch } from './patch.ts'

test('a patch creates, edits, deletes and moves files', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: new.txt',
    '+first',
    '+second',
    '*** Update File: old.txt',
    '@@ here',
    ' keep',
    '-gone',
    '+come',
    '@@',
    '+more',
    '*** Delete File: x/y z.txt',
    '*** Update File: from.txt',
    '*** Move to: to.txt',
    '*** End Patch',
  ].join('\n')
  expect(readPatch(patch)).toEqual([
    { path: 'new.txt', act: 'created', text: 'first\nsecond', edits: [] },
    {
      path: 'old.txt',
      act: 'edited',
      edits: [
        { before: 'keep\ngone', after: 'keep\ncome', isAll: false },
        { before: '', after: 'more', isAll: false },
      ],
    },
    { path: 'x/y z.txt', act: 'deleted', edits: [] },
    { path: 'from.txt', act: 'deleted', edits: [] },
    { path: 'to.txt', act: 'edited', edits: [] },
  ])
})

test('a unified diff does the same', () => {
  const diff = [
    'diff --git a/src/a.ts b/src/a.ts',
    'index 1..2 100644',
    '--- a/src/a.ts\t2026-01-02',
    '+++ b/src/a.ts\t2026-01-02',
    '@@ -1,2 +1,2 @@',
    ' keep',
    '-old',
    '+new',
    '--- /dev/null',
    '+++ b/b.ts',
    '@@ -0,0 +1 @@',
    '+x',
    '--- a/c.ts',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-y',
  ].join('\n')
  expect(readPatch(diff)).toEqual([
    { path: 'src/a.ts', act: 'edited', edits: [{ before: 'keep\nold', after: 'keep\nnew', isAll: false }] },
    { path: 'b.ts', act: 'created', text: 'x', edits: [] },
    { path: 'c.ts', act: 'deleted', edits: [] },
  ])
})

test('what is no patch has no files', () => {
  expect(['', 'hello', '*** Update File:', '+++ b', '--- a'].map(readPatch)).toEqual([[], [], [], [], []])
})
