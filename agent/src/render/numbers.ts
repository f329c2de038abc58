// Numbers, sizes, times and money as people read them. Always the same, whatever the machine's language.

/** Without `Intl`, which takes 20 ms when it is first used. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** `1 turn`, `2 turns`. */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`
}

/** Three or four digits: 812, 25.0k, 168k, 1.2M. */
export function short(value: number): string {
  if (value < 1_000) return String(Math.round(value))
  if (value < 99_950) return `${(value / 1_000).toFixed(1)}k`
  if (value < 999_500) return `${Math.round(value / 1_000)}k`
  if (value < 999_500_000) return `${(value / 1_000_000).toFixed(value < 99_950_000 ? 1 : 0)}M`
  return `${(value / 1_000_000_000).toFixed(1)}G`
}

export function bytes(value: number): string {
  if (value < 1_000) return `${value} bytes`
  if (value < 999_500) return `${Math.round(value / 1_000)} kB`
  return value < 999_950_000 ? `${(value / 1_000_000).toFixed(1)} MB` : `${(value / 1_000_000_000).toFixed(2)} GB`
}

/** A share of a whole, in percent; "<1 %" for what is there but rounds to nothing. */
export function percent(part: number, whole: number): string {
  const value = whole === 0 ? 0 : (part / whole) * 100
  return part > 0 && value < 0.5 ? '<1 %' : `${Math.round(value)} %`
}

export function dollars(value: number | undefined): string {
  if (value === undefined) return 'no price'
  return value > 0 && value < 0.005 ? '<$0.01' : `$${value.toLocaleString('en-US', twoDigits)}`
}

const twoDigits = { minimumFractionDigits: 2, maximumFractionDigits: 2 }

/** Small sums with their digits: $0.0021. */
export function exactDollars(value: number | undefined): string {
  return value === undefined || value >= 1 ? dollars(value) : `$${value.toFixed(4)}`
}

/** Short times: 12 ms, 0.4 s. */
export function seconds(milliseconds: number): string {
  return milliseconds < 100 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`
}

export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000)
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}

type When = string | number | undefined

/** `2026-03-02 08:41`; a dash where there is no readable time. */
export function dateTime(when: When, timeZone: string | undefined): string {
  return formatted(when, timeZone, 16)
}

/** `08:41:07` */
export function clockTime(when: When, timeZone: string | undefined): string {
  return formatted(when, timeZone, 19).slice(11)
}

function formatted(when: When, timeZone: string | undefined, length: number): string {
  const date = new Date(when ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return '–'
  // Swedish writes dates the way the rest of the world sorts them.
  return date.toLocaleString('sv-SE', timeZone === undefined ? {} : { timeZone }).slice(0, length)
}
