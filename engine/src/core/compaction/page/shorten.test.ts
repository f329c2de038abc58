import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shortenedNote } from '../../prompts/page.ts'
import { shortenSummary } from './shorten.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const shorten = (text: string, tokens: number) =>
  shortenSummary(text, { tokens, countTokens }).slice(`${shortenedNote}\n\n`.length).split('\n')

const bullets = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `- ${name} ${at} is so. It has a reason.`).join('\n')

const summary = [
  '1. Primary Request and Intent:',
  bullets('Request', 10),
  '3. Files and Code Sections:',
  bullets('File', 10),
  '6. All user messages:',
  bullets('Message', 10),
  '9. Optional Next Step:',
  '- Run the tests.',
].join('\n')

test('the older half of the user’s messages goes first, and the rest of the summary stays', () => {
  const kept = shorten(summary, countTokens(summary) - 20)
  expect(kept.filter((line) => line.startsWith('- Request')).length).toBe(10)
  expect(kept.filter((line) => line.startsWith('- File')).length).toBe(10)
  expect(kept).toContain('- Message 9 is so. It has a reason.')
  expect(kept).toContain('- Run the tests.')
})

test('every bullet keeps its first sentence before a bullet goes', () => {
  const kept = shorten(summary, countTokens(summary) * 0.75)
  expect(kept.filter((line) => /^- (?:Request|File)/.test(line)).length).toBe(20)
})

test('the space that is left by what was left out is used', () => {
  const tokens = countTokens(summary) / 2
  expect(countTokens(shortenSummary(summary, { tokens, countTokens }))).toBeGreaterThan(tokens * 0.9)
})

test('a quotation, brackets and code are never cut in two', () => {
  const line =
    '- The user said: "Stop. Do not push." Then the agent stopped (it waited. It did nothing). Later it went on.'
  const text = `1. Primary Request and Intent:\n${line}\n3. Files and Code Sections:\n${bullets('File', 3)}\n9. Optional Next Step:\n- Go.`
  for (let tokens = 15; tokens < countTokens(text); tokens++) {
    const kept = shorten(text, tokens).find((one) => one.startsWith('- The user'))
    expect([
      undefined,
      '- The user said: "Stop. Do not push." Then the agent stopped (it waited. It did nothing).',
      line,
    ]).toContain(kept)
  }
})

test('few words that introduce code go with it; a longer statement says that something is missing', () => {
  const code = `\n  \`\`\`\n  ${'x'.repeat(200)}\n  \`\`\``
  const text = `3. Files and Code Sections:\n- Added:${code}\n- A check for missing results was added:${code}\n9. Next Step:\n- Go.`
  expect(shorten(text, 50)).toEqual([
    '3. Files and Code Sections:',
    '- A check for missing results was added: […]',
    '',
    '9. Next Step:',
    '- Go.',
    '',
  ])
})

test('a shortened summary is never longer than it may be by more than a line', () => {
  const text = fc.array(fc.constantFrom('- A. B.', '  - c', '```', 'x:', '| r |', '"Q. R.'), { maxLength: 60 })
  fc.assert(
    fc.property(text, fc.integer({ min: 40, max: 200 }), (lines, tokens) => {
      const whole = `${summary}\n${lines.join('\n')}`
      expect(countTokens(shortenSummary(whole, { tokens, countTokens }))).toBeLessThanOrEqual(tokens + 20)
    }),
  )
})
