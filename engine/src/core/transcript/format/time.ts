// Reads times as records carry them. The one form that clients write is read by hand, many times as fast as Date.parse,
// since every entry has one; whatever looks different is left to Date.parse, and so the outcome is the same.

/** Milliseconds since 1970; NaN when it is no time. */
export function timeIn(text: string): number {
  return isMarked(text) ? timeOfParts(text) : Date.parse(text)
}

/** 2026-03-02T10:00:00.000Z, but for the digits. */
function isMarked(text: string): boolean {
  return (
    text.length === 24 &&
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    text.charCodeAt(10) === 84 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    text.charCodeAt(19) === 46 &&
    text.charCodeAt(23) === 90
  )
}

function timeOfParts(text: string): number {
  const year = twoAt(text, 0) * 100 + twoAt(text, 2)
  const month = twoAt(text, 5)
  const day = twoAt(text, 8)
  const hour = twoAt(text, 11)
  const minute = twoAt(text, 14)
  const second = twoAt(text, 17)
  const thousandth = twoAt(text, 20) * 10 + digitAt(text, 22)
  const isTime = hour < 24 && minute < 60 && second < 60 && thousandth < 1000
  // What cannot be, and the last days of a month, are for somebody who knows the calendar.
  if (!isTime || year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 28) return Date.parse(text)
  const minutes = (daysTo(year, month, day) * 24 + hour) * 60 + minute
  return (minutes * 60 + second) * 1000 + thousandth
}

const zero = 48
/** In the place of what is no digit: larger than anything that a date can hold. */
const none = 1_000_000

function twoAt(text: string, at: number): number {
  return digitAt(text, at) * 10 + digitAt(text, at + 1)
}

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - zero
  return digit >= 0 && digit <= 9 ? digit : none
}

const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
/** From the first day of the year 1. */
const daysTo1970 = 719_162

/** Since 1970. */
function daysTo(year: number, month: number, day: number): number {
  const years = year - 1
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const inYear = (daysBeforeMonth[month - 1] ?? 0) + (isLeap && month > 2 ? 1 : 0) + day - 1
  return years * 365 + leapDays + inYear - daysTo1970
}
