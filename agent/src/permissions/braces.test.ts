import { expect, test } from 'vitest'
import { expandBraces } from './braces.ts'

test.each([
  ['plain', ['plain']],
  ['a{b,c}d', ['abd', 'acd']],
  ['{a,}', ['a', '']],
  ['{a,{b,c}}', ['a', 'b', 'c']],
  ['{a,b}}', ['a}', 'b}']],
  ['x{1..2}y{a,b}', ['x1ya', 'x1yb', 'x2ya', 'x2yb']],
  ['{3..1}', ['3', '2', '1']],
  ['{-1..1}', ['-1', '0', '1']],
  ['{-0..1}', ['0', '1']],
  ['{c..a}', ['c', 'b', 'a']],
  ['{X..Z}', ['X', 'Y', 'Z']],
])('%s becomes the words that Bash makes of it', (text, words) => {
  expect(expandBraces(text, 9)).toEqual(words)
})

test.each([
  ['leading zeros pad all numbers', '{01..3}'],
  ['also at the second end', '{1..03}'],
  ['also behind a sign', '{1..-01}'],
  ['between upper and lower case there is a backslash, which Bash then removes', '.env{Z..a}'],
  ['also downward', '.env{a..Z}'],
  ['a step', '{1..9..2}'],
  ['no alternatives', '{a}'],
  ['not closed', '{1..2}{a'],
  ['quoted', '{"a",b}'],
])('words are not guessed: %s', (_, text) => {
  expect(expandBraces(text, 99)).toBeUndefined()
})

test('there may be as many words as are asked for, and not one more', () => {
  for (const text of ['{1..6}', '{1..3}{a,b}', '{a,b,c,d,e,f}']) {
    expect([expandBraces(text, 6)?.length, expandBraces(text, 5)]).toEqual([6, undefined])
  }
})
