import { expect, test } from 'vitest'
import { escapeGlob, glob, ignoreGlob } from './glob.ts'

test.each([
  ['*.ts', ['a.ts', '.ts'], ['a.js', 'src/a.ts']],
  ['**/*.ts', ['a.ts', 'src/a.ts', 'src/deep/a.ts'], ['a.tsx']],
  ['src/**', ['src/a', 'src/b/c'], ['src', 'srcs/a']],
  ['src/**/a.ts', ['src/a.ts', 'src/x/y/a.ts'], ['src/ba.ts']],
  ['a?c', ['abc'], ['ac', 'a/c']],
  ['[a-c].x', ['a.x', 'c.x'], ['d.x', '/.x']],
  ['[!a].x', ['b.x'], ['a.x', '/.x']],
  ['*.{js,ts}', ['a.js', 'b.ts'], ['a.css', 'a.{js,ts}']],
  ['{a,{b,c}}/x', ['a/x', 'b/x', 'c/x'], ['d/x']],
  ['a{b', ['a{b'], ['ab']],
  ['\\{a,b\\}', ['{a,b}'], ['a', 'b', '{a', 'b}']],
  ['{a\\,b,c}', ['a,b', 'c'], ['a', 'b', 'b,c']],
  ['a}b', ['a}b'], ['ab']],
  ['a.b+(c)|$', ['a.b+(c)|$'], ['aXb+(c)|$']],
  ['\\*', ['*'], ['a']],
  ['a,b', ['a,b'], ['a']],
  ['**', ['a', 'a/b'], []],
])('the glob %s', (pattern, yes, no) => {
  const matches = glob(pattern)
  expect([...yes, ...no].filter(matches)).toEqual(yes)
})

test.each([
  ['.env', ['.env', 'a/.env', 'a/.env/b'], ['.envs', 'a.env']],
  ['/build', ['build', 'build/a'], ['a/build']],
  ['docs/*.md', ['docs/a.md'], ['a/docs/a.md', 'docs/b/a.md']],
  ['**/logs', ['logs', 'a/logs', 'a/logs/b'], ['alogs']],
])('the line %s of an ignore file', (pattern, yes, no) => {
  expect([...yes, ...no].filter(ignoreGlob(pattern).below)).toEqual(yes)
})

test('an escaped text matches itself only', () => {
  const odd = 'a*b?[c]{d,e}!\\f'
  expect([odd, 'aXb?[c]{d,e}!\\f'].filter(glob(escapeGlob(odd)))).toEqual([odd])
})

test('a pattern that would be slow is not', () => {
  expect(glob(`${'**/'.repeat(200)}x`)('a/'.repeat(500))).toBe(false)
  expect(() => glob('a'.repeat(2_000))).toThrow('longer than 1000 characters')
})
