import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateSession, serialize } from 'everlong/internal/testing'
import { expect, test } from 'vitest'
import { atomsOf } from './atoms.ts'
import { casesOf, cutsOf } from './cases.ts'
import { contenders } from './contenders.ts'
import { questionsOf, score } from './measure.ts'

test('atoms are what must be had exactly; plain words and short numbers are none', () => {
  const text = 'See /p/src/a.ts and https://e.example/x. Call openDoor(max_tries) at 1a2b3c4d, 42 of 4711 times.'
  expect([...atomsOf(text)].toSorted()).toEqual(
    ['/p/src/a.ts', 'a.ts', 'https://e.example/x', 'openDoor', 'max_tries', '1a2b3c4d', '4711'].toSorted(),
  )
})

test('each recorded compaction is a case, and a larger budget keeps no less of it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-fidelity-'))
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, [...generateSession({ seed: 3, turns: 12, boundaries: 2 })].map(serialize).join(''))
  const cases = casesOf(path, 'made-up')
  expect(cases.map(({ name }) => name)).toEqual(['made-up#1', 'made-up#2'])
  for (const found of cases) {
    const questions = questionsOf(found)
    const at = async (budget: number) => score((await contenders['ours, offline']?.(found, budget)) ?? '', questions)
    const [small, large] = [await at(1000), await at(4000)]
    expect(questions.needed.length).toBeGreaterThan(0)
    expect(large.recall).toBeGreaterThanOrEqual(small.recall)
    expect(large).toMatchObject({ human: 1, rules: 1, unsupported: 0 })
  }
  rmSync(folder, { recursive: true })
})

test('a cut is a point of the session with enough before it, and nothing of what came after comes before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-fidelity-'))
  const path = join(folder, 'session.jsonl')
  const records = [...generateSession({ seed: 5, turns: 60, boundaries: 1 })]
  writeFileSync(path, records.map(serialize).join(''))
  const cuts = cutsOf(path, { name: 'made-up', count: 3 })
  rmSync(folder, { recursive: true })
  expect(cuts.length).toBeGreaterThan(0)
  for (const { name, before, left, written } of cuts) {
    expect(name).toMatch(/^made-up@[123]$/)
    expect(before.length).toBeGreaterThanOrEqual(60)
    expect(before.some(({ record }) => record.subtype === 'compact_boundary')).toBe(false)
    expect(left).toEqual([])
    expect(written).not.toBe('')
  }
})
