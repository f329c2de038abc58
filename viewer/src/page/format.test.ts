import { expect, test } from 'vitest'
import { bytes, counted, dateTime, dollars, duration, oneLine, percent, short, visible } from './format.ts'

test('numbers have the next unit where rounding reaches it', () => {
  expect([0, 999, 1_000, 1_250, 99_949, 99_950, 999_499, 999_500, 1_250_000].map(short)).toEqual([
    ...['0', '999', '1k', '1.3k', '99.9k', '100k', '999k', '1M', '1.3M'],
  ])
  expect([999, 1_000, 999_499, 999_500].map(bytes)).toEqual(['999 B', '1 kB', '999 kB', '1.0 MB'])
  expect([0, 89_499, 89_999, 90_000, 5_399_000, 5_400_000, 129_600_000].map(duration)).toEqual([
    ...['1 s', '89 s', '90 s', '2 min', '90 min', '2 h', '2 days'],
  ])
})

test('what is unknown, nothing or very little is said', () => {
  expect([null, 0, 0.0099, 0.01, 1_234.5].map(dollars)).toEqual(['unknown', '$0', '< $0.01', '$0.01', '$1,234.50'])
  expect([null, 0, 0.005, 1].map(percent)).toEqual(['unknown', '0 %', '1 %', '100 %'])
  expect([counted(1, 'turn'), counted(1_200, 'turn'), counted(2, 'entry', 'entries')]).toEqual([
    ...['1 turn', '1,200 turns', '2 entries'],
  ])
  expect(dateTime(null)).toBe('')
})

test('nothing in a text hides, moves or reverses other text', () => {
  expect(visible('a\r\nb\tc\u001b[31mred\u0007\u202egnp.exe\u2066x\u200f')).toBe(
    'a\nb\tcred\ufffd\ufffdgnp.exe\ufffdx\ufffd',
  )
  expect(oneLine('  a \n\n b\t')).toBe('a b')
})
