import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contexts, folder, sessionFile, sessionText } from './write.ts'

test('the contexts in the docs are what the engine makes of the made-up session (write.ts writes them)', async () => {
  expect(readFileSync(sessionFile, 'utf8')).toBe(sessionText())
  const made = await contexts()
  const stored = Object.fromEntries(Object.keys(made).map((name) => [name, readFileSync(`${folder}${name}`, 'utf8')]))
  expect(stored).toEqual(made)
})
