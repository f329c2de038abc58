// The public names, pinned: whoever adds, renames or removes one says so here and in CHANGELOG.md.
// When it is on purpose: npm test -- scripts/public-names -u
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './steps.ts'

const engine = join(root, 'engine')
const { exports } = JSON.parse(readFileSync(join(engine, 'package.json'), 'utf8')) as {
  exports: Record<string, string>
}
const entries = Object.entries(exports).filter(
  ([subpath, source]) => source.endsWith('.ts') && !subpath.startsWith('./internal'),
)

/** Types in one list, values in the other: entries name each thing they export. */
function namesIn(source: string): { readonly values: readonly string[]; readonly types: readonly string[] } {
  const text = readFileSync(join(engine, source), 'utf8')
  const listed = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type = '', names = '']) =>
    names.split(',').map((name) => `${type}${name.trim().replace(/\w+ as /, '')}`),
  )
  const declared = [...text.matchAll(/^export (type|function|const|class) (\w+)/gm)].map(([, kind, name = '']) =>
    kind === 'type' ? `type ${name}` : name,
  )
  const all = [...listed, ...declared].filter((name) => name !== '' && name !== 'type ').toSorted()
  const isType = (name: string) => name.startsWith('type ')
  return {
    values: all.filter((name) => !isType(name)),
    types: all.filter(isType).map((name) => name.replace(/^(type )+/, '')),
  }
}

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
