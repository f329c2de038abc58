import { describe, expect, test } from 'vitest'
import { ruler } from '../commands/context/ruler.ts'
import type { Output } from '../io.ts'
import { bar, segmentedBar } from './bar.ts'
import { facts, foldedFor, type Screen, table } from './screen.ts'

const screen: Screen = { width: 40, isTerminal: false, isColored: false, timeZone: 'UTC', paint: (_, text) => text }

describe('bars', () => {
  test('grow by eighths, and what is there shows', () => {
    expect([bar(0, 4), bar(0.001, 4), bar(0.5, 4), bar(0.6, 4), bar(2, 4)]).toEqual(['', '▏', '██', '██▍', '████'])
  })

  test('in segments end where they belong', () => {
    const segments = [
      { size: 30, style: 'red', letter: 'A' },
      { size: 1, style: 'red', letter: 'B' },
      { size: 29, style: 'red', letter: 'C' },
    ] as const
    expect(segmentedBar(segments, { whole: 100, columns: 10 }, screen)).toBe('AAACCC····')
    expect(segmentedBar(segments, { whole: 60, columns: 6 }, screen)).toBe('AAACCC')
  })

  test('marks that fall together move apart, and none is lost', () => {
    const marks = [
      { letter: 'a', value: 10 },
      { letter: 'b', value: 97 },
      { letter: 'c', value: 98 },
      { letter: 'd', value: 100 },
    ]
    expect(ruler(marks, { whole: 100, columns: 10 })).toBe(' a     bcd')
  })
})

describe('tables', () => {
  const columns = [{ name: 'name' }, { name: 'tokens', align: 'right' }] as const

  test('are as narrow as what they hold', () => {
    expect(
      table(
        columns,
        [
          ['one', '1'],
          ['three', '30,000'],
        ],
        screen,
      ),
    ).toEqual(['  name   tokens', '  one         1', '  three  30,000'])
  })

  test('cut words, never numbers', () => {
    expect(table(columns, [['a name that is much too long for this', '123,456']], screen)).toEqual([
      '  name                            tokens',
      '  a name that is much too long…  123,456',
    ])
  })

  test('facts continue below themselves', () => {
    expect(
      facts(
        [
          ['a', 'x'],
          ['long', 'one two three four five six seven eight'],
        ],
        screen,
      ),
    ).toEqual(['  a     x', '  long  one two three four five six', '        seven eight'])
  })
})

test('a terminal folds lines at its width, unless it does not know it', () => {
  const folded = (columns: number) => foldedFor({ stdout: { isTTY: true, columns } as Output }, ['one two three'])
  expect([folded(8), folded(0)]).toEqual([['one two', '  three'], ['one two three']])
})
