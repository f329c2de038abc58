// Numbers, times and untrusted text as the page shows them.

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** 1234 → 1.2k */
export function short(value: number): string {
  if (value < 1_000) return String(Math.round(value))
  if (value < 99_950) return `${(value / 1_000).toFixed(1).replace(/\.0$/, '')}k`
  if (value < 999_500) return `${Math.round(value / 1_000)}k`
  return `${(value / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
}

export function dollars(value: number | null): string {
  if (value === null) return 'unknown'
  if (value === 0) return '$0'
  if (value < 0.01) return '< $0.01'
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`
  if (value < 999_500) return `${Math.round(value / 1_000)} kB`
  return `${(value / 1_000_000).toFixed(1)} MB`
}

export function percent(share: number | null): string {
  return share === null ? 'unknown' : `${Math.round(share * 100)} %`
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

const twoDigits = (value: number) => String(value).padStart(2, '0')

export function dateTime(time: number | null): string {
  if (time === null) return ''
  const date = new Date(time)
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`
}

export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1_000
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  if (seconds < 129_600) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** Escape sequences of terminals, other control characters, and marks that reverse the direction of text. */
const hidden = /(?![\n\t])\p{Cc}(?:\[[0-?]*[ -/]*[@-~])?|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Nothing in a text may hide, move or reverse other text. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(hidden, (found) => (found.length > 1 ? '' : '\ufffd'))
}

export function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim()
}
