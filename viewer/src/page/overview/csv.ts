// The numbers of sessions as a table for other programs, without anything that was said, and without titles, paths and projects.
import type { SessionFacts, SessionRow } from '../../data/api.ts'

type Column = readonly [name: string, value: (row: SessionRow, facts: SessionFacts) => string | number | null]

const isoTime = (time: number | null) => (time === null ? null : new Date(time).toISOString())

const columns: readonly Column[] = [
  ['session', ({ id }) => id],
  ['agent', (_, { agent }) => agent],
  ['models', (_, { models }) => models.map(({ model }) => model).join(' ')],
  ['from', (_, { from }) => isoTime(from)],
  ['to', (_, { to }) => isoTime(to)],
  ['bytes', ({ bytes }) => bytes],
  ['messages', (_, { messages }) => messages],
  ['turns', (_, { turns }) => turns],
  ['compactions', (_, { compactions }) => compactions],
  ['lost', (_, { lost }) => lost],
  ['input', (_, { tokens }) => tokens.input],
  ['output', (_, { tokens }) => tokens.output],
  ['cache_read', (_, { tokens }) => tokens.cacheRead],
  ['cache_write', (_, { tokens }) => tokens.cacheWrite],
  ['dollars', (_, { cost }) => cost],
]

/** Sessions that were read; an unknown value is empty. */
export function csvOf(rows: readonly SessionRow[]): string {
  const lines = rows.flatMap((row) => {
    const { facts } = row
    return facts ? [columns.map(([, value]) => cell(value(row, facts))).join(',')] : []
  })
  return `${[columns.map(([name]) => name).join(','), ...lines].join('\n')}\n`
}

/** The name of a model comes from a transcript: a spreadsheet must not take it for a formula. */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
