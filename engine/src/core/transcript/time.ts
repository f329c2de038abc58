// Reads times as records carry them. The one form that clients write is read by hand, several times as fast as
// Date.parse, since every entry has one; whatever looks different is left to Date.parse, and so the outcome is the same.

/** Milliseconds since 1970; NaN when it is no time. */
export function timeIn(text: string): number {
  if (!isPlain(text)) return Date.parse(text)
  const month = numberIn(text, 5, 2)
  const day = numberIn(text, 8, 2)
  const hour = numberIn(text, 11, 2)
  const minute = numberIn(text, 14, 2)
  const second = numberIn(text, 17, 2)
  // The last days of a month, and what cannot be, are for somebody who knows the calendar.
  if (month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59) return Date.parse(text)
  return Date.UTC(numberIn(text, 0, 4), month - 1, day, hour, minute, second, numberIn(text, 20, 3))
}

/** 2026-03-02T10:00:00.000Z, from the year 1000 on: Date.UTC takes years below 100 for something else. */
function isPlain(text: string): boolean {
  if (text.length !== 24 || text.charCodeAt(0) === zero) return false
  for (let at = 0; at < 24; at++) {
    const code = text.charCodeAt(at)
    const mark = form.charCodeAt(at)
    if (mark === zero ? code < zero || code > zero + 9 : code !== mark) return false
  }
  return true
}

const form = '0000-00-00T00:00:00.000Z'
const zero = 48

function numberIn(text: string, at: number, digits: number): number {
  let value = 0
  for (let index = at; index < at + digits; index++) value = value * 10 + text.charCodeAt(index) - zero
  return value
}
