// The public names, pinned: whoever adds, renames or removes one says so here and in CHANGELOG.md.
// When it is on purpose: npm test -- scripts/public-names -u
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engine, entries, namesIn } from './public-names.ts'

function count(source: string): number {
  const { values, types } = namesIn(source)
  return values.length + types.length
}

test('everlong exports at most 48 names, and all public entries but everlong/testing at most 150', () => {
  const others = entries.filter(([subpath]) => subpath !== './testing')
  expect(count('src/index.ts')).toBeLessThanOrEqual(48)
  expect(others.reduce((sum, [, source]) => sum + count(source), 0)).toBeLessThanOrEqual(150)
})

test.each(entries)('the names of %s', (subpath, source) => {
  expect(namesIn(source)).toMatchSnapshot(subpath)
})

test('the lists are what the modules export', async () => {
  for (const [, source] of entries) {
    const module = (await import(join(engine, source))) as object
    expect(Object.keys(module).toSorted()).toEqual(namesIn(source).values)
  }
})
