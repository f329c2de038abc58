import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateSession, serialize } from 'everlong/testing'
import { expect, test } from 'vitest'
import { atomsOf } from './atoms.ts'
import { casesOf } from './cases.ts'
import { measure } from './measure.ts'

test('atoms are what must be had exactly; plain words and short numbers are none', () => {
  const text = 'See /p/src/a.ts and https://e.example/x. Call openDoor(max_tries) at 1a2b3c4d, 42 of 4711 times.'
  expect([...atomsOf(text)].toSorted()).toEqual(
    ['/p/src/a.ts', 'a.ts', 'https://e.example/x', 'openDoor', 'max_tries', '1a2b3c4d', '4711'].toSorted(),
  )
})

test('each recorded compaction is a case, and a larger ledger keeps no less', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-ledger-'))
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, [...generateSession({ seed: 3, turns: 12, boundaries: 2 })].map(serialize).join(''))
  const cases = casesOf(path, 'made-up')
  rmSync(folder, { recursive: true })
  expect(cases.map(({ name }) => name)).toEqual(['made-up#1', 'made-up#2'])
  for (const { alone, needed } of cases.map(measure)) {
    expect(needed).toBeGreaterThan(0)
    expect(alone.at(-1)).toBeGreaterThanOrEqual(alone[0] ?? 0)
  }
})
