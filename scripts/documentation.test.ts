import { expect, test } from 'vitest'
import { documentation } from './documentation.ts'

test('the screens in the documentation are those of the program', () => {
  const { text, wanted } = documentation()
  expect(text.match(/<!-- screen /g)?.length).toBeGreaterThan(5)
  expect(text === wanted, 'run: node script./documentation.ts').toBe(true)
})
