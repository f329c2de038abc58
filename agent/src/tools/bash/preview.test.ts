import { expect, test } from 'vitest'
import { cleanLine, createPreview, maxInline } from './preview.ts'

/** The preview of this many lines of 100 characters with their line ends; `replaced` by their number, counted from 1. */
function previewOf(count: number, replaced: Readonly<Record<number, string>> = {}) {
  const preview = createPreview()
  for (let line = 1; line <= count; line++) preview.add((replaced[line] ?? `line ${line}`).padEnd(99, '.'))
  return preview
}

test('an output of exactly the limit is shown in full, and one more character makes it long', () => {
  const lines = maxInline / 100
  expect(previewOf(lines).isLong()).toBe(false)
  expect(previewOf(lines).text().split('\n')).toHaveLength(lines)
  const long = previewOf(lines)
  long.add('')
  expect(long.isLong()).toBe(true)
  expect(long.size()).toEqual({ characters: maxInline + 1, lines: lines + 1 })
})

test('of a long output, the first and the last lines are shown, and the errors between them up to the last line left out', () => {
  // 4,000 characters at the beginning and 10,000 at the end: lines 41 to 900 are left out.
  const text = previewOf(1_000, { 40: 'error A', 41: 'error B', 900: 'error C', 901: 'error D' }).text()
  expect(text).toContain('\n… 860 lines are left out here …\n')
  expect(text).toMatch(/line 39\.+\nerror A\.+\n\n… 860/)
  expect(text).toMatch(
    /Lines among them that look like errors:\n41: error B\.+\n900: error C\.+\n\nerror D\.+\nline 902/,
  )
  expect(text.match(/error [A-D]/g)).toEqual(['error A', 'error B', 'error C', 'error D'])
})

test('only the first twenty errors are listed', () => {
  const errors = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [100 + at, `error ${at + 1}`]))
  const text = previewOf(1_000, errors).text()
  expect(text).toContain('119: error 20.')
  expect(text).not.toContain('error 21')
})

test('of a progress bar only the last state counts', () => {
  expect(cleanLine('10%\r\u001b[32m100%\u001b[0m\r')).toBe('100%')
})
