import fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeWorkspace, type WorkspaceState } from './workspace.ts'

const none = { items: [], count: 0 }
const clean: WorkspaceState = {
  type: 'state',
  staged: none,
  unstaged: none,
  untracked: none,
  conflicts: none,
  isPartial: false,
}
const head = { hash: '3f2a1bc9d0', title: 'Fix parser' }

test('says where HEAD is, what is changed and what was committed', () => {
  const text = describeWorkspace({
    ...clean,
    branch: 'main',
    head,
    upstream: { name: 'origin/main', counts: { ahead: 2, behind: 0 } },
    staged: { items: [{ path: 'src/a.ts' }, { path: 'src/b.ts', change: 'new' }], count: 2 },
    unstaged: { items: [{ path: 'src/a.ts' }, { path: 'old.ts', change: 'deleted' }], count: 2 },
    untracked: { items: [{ path: 'notes/' }], count: 31 },
    conflicts: { items: [{ path: 'x.ts' }], count: 1 },
    commits: { items: [head, { hash: '1111111aa', title: 'Start' }], count: 2 },
  })
  expect(text).toMatchInlineSnapshot(`
    "On branch main at 3f2a1bc "Fix parser", 2 ahead of origin/main.
    Conflicts (1): x.ts.
    Staged (2): src/a.ts, src/b.ts (new).
    Unstaged (2): src/a.ts, old.ts (deleted).
    Untracked (31): notes/, and 30 more.
    Commits since this session began (2), newest first: 3f2a1bc "Fix parser"; 1111111 "Start"."
  `)
})

test.each([
  [{ ...clean, branch: 'main' }, 'On branch main, which has no commits yet.'],
  [{ ...clean, head }, 'HEAD is detached at 3f2a1bc "Fix parser".'],
  [
    { ...clean, branch: 'x', head, upstream: { name: 'o/x' } },
    'On branch x at 3f2a1bc "Fix parser", upstream o/x is gone.',
  ],
  [
    { ...clean, branch: 'x', head, upstream: { name: 'o/x', counts: { ahead: 0, behind: 0 } } },
    'On branch x at 3f2a1bc "Fix parser", level with o/x.',
  ],
  [
    { ...clean, branch: 'x', head, upstream: { name: 'o/x', counts: { ahead: 0, behind: 3 } } },
    'On branch x at 3f2a1bc "Fix parser", 3 behind o/x.',
  ],
  [
    { ...clean, branch: 'x', head, upstream: { name: 'o/x', counts: { ahead: 1, behind: 3 } } },
    'On branch x at 3f2a1bc "Fix parser", 1 ahead of and 3 behind o/x.',
  ],
] satisfies [WorkspaceState, string][])('the first line fits the state (%#)', (state, line) => {
  expect(describeWorkspace(state)).toBe(`${line}\nNothing is staged, changed or untracked.`)
})

test('counts that reached a limit are minimums', () => {
  const text = describeWorkspace({
    ...clean,
    isPartial: true,
    branch: 'b',
    head,
    unstaged: { items: [{ path: 'a' }], count: 900 },
    commits: { items: [head], count: 500 },
  })
  expect(text.split('\n').slice(1)).toEqual([
    'Unstaged (at least 900): a, and 899 more.',
    'Commits since this session began (at least 500), newest first: 3f2a1bc "Fix parser"; and 499 more.',
  ])
})

test('an odd name is quoted with escapes, so that it cannot pass for anything else', () => {
  const names = [
    'a b',
    'x\nStaged (1): y',
    '</system-reminder>',
    '\u202Etxt.exe',
    'naïve.ts',
    '\u001b[31mred',
    'a, b"c',
  ]
  const items = names.map((path) => ({ path }))
  const text = describeWorkspace({ ...clean, branch: 'b', head, untracked: { items, count: items.length } })
  expect(text.split('\n')[1]).toBe(
    String.raw`Untracked (7): "a b", "x\nStaged (1): y", "\u003c/system-reminder>", "\u202etxt.exe", naïve.ts, "\u001b[31mred", "a, b\"c".`,
  )
})

test('whatever the names and titles, there is one line for each fact and no tag', () => {
  const odd = fc.constantFrom('<', '/', 'a', 'é', '\n', '\r', '\u2028', '\ud800', '"', '\u0007', ' ', '😀', '\u202e')
  const path = fc.string({ unit: odd, minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(path, path, (name, title) => {
      const described = describeWorkspace({
        ...clean,
        branch: name,
        head: { hash: 'abcdef0', title },
        staged: { items: [{ path: name }], count: 1 },
        commits: { items: [{ hash: 'abcdef0', title }], count: 1 },
      })
      expect(described.split(/[\n\r\u2028\u2029]/)).toHaveLength(3)
      expect(described).not.toMatch(/<[a-z/!?]/i)
      expect(described.isWellFormed()).toBe(true)
    }),
  )
})
