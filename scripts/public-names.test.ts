// The list of public names is docs/api/README.md; `npm run check` compares it with the entries.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkNames, engine, entries, maxInAll, maxInMain, namesIn } from './public-names.ts'
import { root } from './steps.ts'

test('the lists are what the modules export', async () => {
  for (const [, source] of entries) {
    const module = (await import(join(engine, source))) as object
    expect(Object.keys(module).toSorted()).toEqual(namesIn(source).values)
  }
})

test('AGENTS.md has the limits that are checked', () => {
  const text = readFileSync(join(root, 'AGENTS.md'), 'utf8').replaceAll(/\s+/g, ' ')
  expect(text).toContain(`\`index.ts\` for every host (at most ${maxInMain} names, free of Node)`)
  expect(text).toContain(
    `All public entries together have at most ${maxInAll} names, not counting \`everlong/testing\``,
  )
})

const fine = {
  index:
    '| [everlong](everlong.md) | Sessions | `Session` `createEngine` |\n| [everlong](everlong.md) | Models | `offline` |',
  entries: [{ subpath: 'everlong', names: ['Session', 'createEngine', 'offline'] }],
  internal: [{ subpath: 'everlong/internal/node', names: ['fsck', 'readLost'] }],
  sources: [
    "import { type Fsck, fsck as check } from 'everlong/internal/node'",
    "const [{ readLost }] = await Promise.all([import('everlong/internal/node')])",
  ],
}

test('names that are listed and imported are fine', () => {
  expect(checkNames(fine)).toEqual([])
})

test('a name that is not listed, and one that is no longer exported, are reported', () => {
  const problems = checkNames({ ...fine, entries: [{ subpath: 'everlong', names: ['Session', 'offline', 'start'] }] })
  expect(problems).toHaveLength(2)
  expect(problems[0]).toContain('everlong exports start')
  expect(problems[1]).toContain('lists createEngine')
})

test('an internal name that no package imports is reported, also if another subpath has one of that name', () => {
  const sources = [...fine.sources, "import { walk } from 'everlong/internal'"]
  const internal = [{ subpath: 'everlong/internal/node', names: ['walk'] }]
  expect(checkNames({ ...fine, internal, sources })).toEqual([
    'everlong/internal/node exports walk, which nothing imports. Remove it.',
  ])
})

test.each([
  { subpath: 'everlong', max: 49 },
  { subpath: 'everlong/node', max: 150 },
])('one name more than $max in $subpath is too many', ({ subpath, max }) => {
  const given = (count: number) => {
    const names = Array.from({ length: count }, (_, at) => `name${at}`)
    return { ...fine, entries: [{ subpath, names }], index: `| [${subpath}](x.md) | all | ${names.join(' ')} |` }
  }
  expect(checkNames(given(max))).toEqual([])
  expect(checkNames(given(max + 1))).toEqual([expect.stringContaining(`${max + 1} names; at most ${max}`)])
})
