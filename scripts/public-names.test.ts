// The public names, pinned: whoever adds, renames or removes one says so here and in CHANGELOG.md.
// When it is on purpose: npm test -- scripts/public-names -u
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engine, entries, namesIn } from './public-names.ts'

test('everlong exports about 45 names', () => {
  const { values, types } = namesIn('src/index.ts')
  expect(values.length + types.length).toBeLessThanOrEqual(54)
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
