import { describe, expect, test } from 'vitest'
import { gauge } from './gauge.ts'
import { bytes, clockTime, count, counted, dateTime, dollars, duration, percent, short } from './numbers.ts'
import { oneLine, safeJson, visible } from './safe.ts'
import { createSheet } from './sheet.ts'
import { columnsOf, cut, cutStart, fold, padEnd, wrap } from './width.ts'

const sheet = createSheet({ width: 40, isColored: false })

describe('numbers', () => {
  test('keep three or four digits when they must be short', () => {
    expect(
      [0, 999, 1_000, 25_012, 99_949, 99_950, 167_117, 999_499, 1_000_000, 77_700_000, 1_400_000_000].map(short),
    ).toEqual(['0', '999', '1.0k', '25.0k', '99.9k', '100k', '167k', '999k', '1.0M', '77.7M', '1.4G'])
    expect([999_500, 99_949_999, 99_950_000, 999_499_999, 999_500_000].map(short)).toEqual([
      '1.0M',
      '99.9M',
      '100M',
      '999M',
      '1.0G',
    ])
  })

  test('have the next unit where rounding reaches it', () => {
    expect([999_499, 999_500, 999_949_999, 999_950_000].map(bytes)).toEqual(['999 kB', '1.0 MB', '999.9 MB', '1.00 GB'])
  })

  test('have units that people use', () => {
    expect([bytes(812), bytes(294_000), bytes(3_851_779), bytes(2_500_000_000)]).toEqual([
      '812 bytes',
      '294 kB',
      '3.9 MB',
      '2.50 GB',
    ])
    expect([duration(41_300), duration(900_000), duration(9 * 3_600_000), duration(200 * 3_600_000)]).toEqual([
      '41 s',
      '15 min',
      '9 h',
      '8 days',
    ])
    expect([dollars(0), dollars(0.001), dollars(1_437.29), dollars(undefined)]).toEqual([
      '$0.00',
      '<$0.01',
      '$1,437.29',
      'no price',
    ])
    expect([
      percent(1, 1_000),
      percent(0, 0),
      percent(1, 3),
      counted(1, 'turn'),
      counted(2, 'entry', 'entries'),
    ]).toEqual(['<1 %', '0 %', '33 %', '1 turn', '2 entries'])
    expect([0, 999, 1_000, 99_999.5, 1_234_567, -12, -1_234].map(count)).toEqual([
      ...['0', '999', '1,000', '100,000', '1,234,567', '-12', '-1,234'],
    ])
  })

  test('times are shown in the zone asked for, and unreadable ones as a dash', () => {
    const when = '2026-03-02T23:30:07.000Z'
    expect([
      dateTime(when, 'UTC'),
      dateTime(when, 'Asia/Tokyo'),
      clockTime(when, 'UTC'),
      dateTime('soon', 'UTC'),
    ]).toEqual(['2026-03-02 23:30', '2026-03-03 08:30', '23:30:07', '–'])
  })
})

describe('widths', () => {
  test('count columns, not characters', () => {
    expect(['abc', '漢字', 'e\u0301', '👍', ''].map(columnsOf)).toEqual([3, 4, 1, 2, 0])
  })

  test('cut from either end and say so', () => {
    expect([cut('abcdef', 4), cut('漢字漢字', 5), cutStart('/a/b/file.ts', 8), cut('abc', 3)]).toEqual([
      'abc…',
      '漢字…',
      '…file.ts',
      'abc',
    ])
  })

  test('wrap between words, and let a long word stand', () => {
    expect(wrap('one two averyverylongword three', 8)).toEqual(['one two', 'averyverylongword', 'three'])
    expect(padEnd('漢', 4)).toBe('漢  ')
  })
})

describe('folding', () => {
  test('breaks a finished line between words, further in, and loses nothing', () => {
    expect(fold('  one two three four', 12)).toEqual(['  one two', '    three', '    four'])
    expect(fold('  fits here', 11)).toEqual(['  fits here'])
    expect(fold('  averyverylongword x', 8)).toEqual(['  averyverylongword', '    x'])
  })

  test('counts no colors', () => {
    expect(fold('\u001b[31mred\u001b[39m and \u001b[1mbold\u001b[22m', 12)).toEqual([
      '\u001b[31mred\u001b[39m and \u001b[1mbold\u001b[22m',
    ])
  })
})

test('the gauge is full at its limit and beyond', () => {
  expect([0, 50, 100, 300].map((used) => gauge({ used, limit: 100, state: 'ok' }, 4, sheet))).toEqual([
    '░░░░',
    '██░░',
    '████',
    '████',
  ])
})

describe('text from files', () => {
  test('loses its escape sequences and shows its controls', () => {
    expect(oneLine('\u001b[31mred\u001b[0m\n\ttext \u0007\u202eend')).toBe('red text ��end')
    expect(visible('a\u001b[2Jb\nc')).toBe('a�[2Jb�c')
  })

  test('keeps letters of every script', () => {
    expect(oneLine('Grüße, 漢字 عربى 👍🏽')).toBe('Grüße, 漢字 عربى 👍🏽')
  })

  test('is the same value in JSON, with nothing unsafe in its spelling', () => {
    const value = { text: 'a\u001b\u009b\u202e漢\n', none: undefined }
    const text = safeJson(value)
    expect(text).toBe('{\n  "text": "a\\u001b\\u009b\\u202e漢\\n",\n  "none": null\n}')
    expect(JSON.parse(text)).toEqual({ text: value.text, none: null })
  })
})
