import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { coverageOf } from './coverage.ts'
import { readingLists } from './sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-walks-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a file that is loaded has run only if one of its functions was called', () => {
  const { loaded, ran, functions } = coverageOf([join(import.meta.dirname, 'programs/hello.ts')], { folder })
  expect(ran).toContain('engine/src/engine.ts')
  // It compacts nothing, so what only a compaction needs is not even loaded.
  expect(loaded).not.toContain('engine/src/core/compaction/run.ts')
  expect(loaded).toEqual(expect.arrayContaining([...ran]))
  expect(ran.length).toBeLessThan(loaded.length)
  expect(functions).toBeGreaterThan(ran.length)
})

test('a program that fails is an error, not a small walk', () => {
  const other = mkdtempSync(join(folder, 'other-'))
  expect(() => coverageOf([join(import.meta.dirname, 'programs/open.ts')], { folder: other })).toThrow(/ended with 1/)
})

test('the reading lists of docs/architecture.md name files that exist', () => {
  expect(readingLists().map(({ files }) => files.length > 3)).toEqual([true, true, true])
})
