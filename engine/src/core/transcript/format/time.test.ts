import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timeIn } from './time.ts'

const isSame = (text: string) => {
  expect([text, timeIn(text)]).toEqual([text, Date.parse(text)])
}

test('any time that is written as clients write it is read as Date.parse reads it', () => {
  fc.assert(fc.property(fc.date({ noInvalidDate: true }), (date) => isSame(date.toISOString())))
})

test('what only looks like a time is read as Date.parse reads it', () => {
  const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`))
  const anyDigits = fc.tuple(digits(4), digits(2), digits(2), digits(2), digits(2), digits(2), digits(3))
  fc.assert(
    fc.property(anyDigits, ([year, month, day, hour, minute, second, rest]) =>
      isSame(`${year}-${month}-${day}T${hour}:${minute}:${second}.${rest}Z`),
    ),
  )
  for (const text of [
    '',
    'yesterday',
    '2026-02-29T10:00:00.000Z',
    '2026-03-02T24:00:00.000Z',
    '0099-01-01T00:00:00.000Z',
  ]) {
    isSame(text)
  }
  for (const text of ['2026-03-02T10:00:00Z', '2026-03-02T10:00:00.000+02:00', '2026-03-02t10:00:00.000z']) isSame(text)
})
