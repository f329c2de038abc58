import { expect, test } from 'vitest'
import { pathBelow } from './rows.ts'

test('a path is shown below the folder that was looked at', () => {
  const roots = ['/home/me/.claude/projects', '/data']
  expect(pathBelow(roots, '/data/a/b.jsonl')).toBe('a/b.jsonl')
  expect(pathBelow(roots, '/home/me/.claude/projects/c.jsonl')).toBe('c.jsonl')
})

test('a file that was given itself, and one next to a folder with a similar name, keep their paths', () => {
  expect(pathBelow(['/data/a.jsonl'], '/data/a.jsonl')).toBe('/data/a.jsonl')
  expect(pathBelow(['/data'], '/data-old/a.jsonl')).toBe('/data-old/a.jsonl')
  expect(pathBelow([], '/data/a.jsonl')).toBe('/data/a.jsonl')
})
