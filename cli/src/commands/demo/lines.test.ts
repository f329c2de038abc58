import { expect, test } from 'vitest'
import type { Screen } from '../../render/screen.ts'
import { personLines, typingLine } from './lines.ts'

const screen: Screen = { width: 20, isTerminal: true, isColored: false, timeZone: 'UTC', paint: (_, text) => text }

test('while a long prompt is typed, its end is shown in one line; when it is complete, all of it', () => {
  const prompt = 'Never touch the migrations.'
  expect(typingLine('Never', screen)).toBe('you › Never')
  expect(typingLine(prompt, screen)).toMatch(/^you › ….*migrations\.$/)
  expect(typingLine(prompt, screen)).toHaveLength(20)
  expect(personLines(prompt, screen)).toEqual(['', 'you › Never touch', '      the', '      migrations.'])
})
