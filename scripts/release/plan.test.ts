import { expect, test } from 'vitest'
import { planRelease } from './plan.ts'

const files = {
  'package.json': '{\n  "name": "house",\n  "version": "0.9.1"\n}\n',
  'cli/package.json':
    '{ "name": "@everlong/cli", "version": "0.9.1", "dependencies": { "everlong": "0.9.1", "other": "0.9.1" } }',
  'plugins/one/plugin.json': '{ "version": "0.9.1", "keywords": ["a", "b"] }',
  'package-lock.json': `${JSON.stringify(
    {
      version: '0.9.1',
      packages: {
        '': { version: '0.9.1' },
        cli: { version: '0.9.1', dependencies: { everlong: '0.9.1', other: '0.9.1' } },
        'node_modules/other': { version: '0.9.1' },
      },
    },
    null,
    2,
  )}\n`,
  'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n- New: a thing.\n\n## 0.9.1 (2026-01-01)\n\n- Old.\n',
}
const date = '2026-02-03'

test('a release changes our versions and nothing else, and dates the changelog', () => {
  expect(planRelease({ word: 'minor', date, files })).toEqual({
    type: 'planned',
    version: '0.10.0',
    files: {
      'package.json': '{\n  "name": "house",\n  "version": "0.10.0"\n}\n',
      'cli/package.json':
        '{ "name": "@everlong/cli", "version": "0.10.0", "dependencies": { "everlong": "0.10.0", "other": "0.9.1" } }',
      'plugins/one/plugin.json': '{ "version": "0.10.0", "keywords": ["a", "b"] }',
      'package-lock.json': `${JSON.stringify(
        {
          version: '0.10.0',
          packages: {
            '': { version: '0.10.0' },
            cli: { version: '0.10.0', dependencies: { everlong: '0.10.0', other: '0.9.1' } },
            'node_modules/other': { version: '0.9.1' },
          },
        },
        null,
        2,
      )}\n`,
      'CHANGELOG.md':
        '# Changelog\n\n## Unreleased\n\n## 0.10.0 (2026-02-03)\n\n- New: a thing.\n\n## 0.9.1 (2026-01-01)\n\n- Old.\n',
    },
  })
})

test.for([
  ['patch', '0.9.2'],
  ['minor', '0.10.0'],
  ['major', '1.0.0'],
  ['0.11.0', '0.11.0'],
] as const)('%s gives %s', ([word, version]) => {
  expect(planRelease({ word, date, files })).toMatchObject({ type: 'planned', version })
})

test('the first release takes the whole changelog', () => {
  const first = planRelease({ word: '1.0.0', date, files: { ...files, 'CHANGELOG.md': '## Unreleased\n\n- All.\n' } })
  expect(first).toMatchObject({ files: { 'CHANGELOG.md': '## Unreleased\n\n## 1.0.0 (2026-02-03)\n\n- All.\n' } })
})

test.for([
  ['huge', {}, '"huge" is not a release. Give patch, minor, major, or a version such as 1.2.3.'],
  ['0.9.1', {}, '0.9.1 is not later than 0.9.1, the current version.'],
  ['0.9.0', {}, '0.9.0 is not later than 0.9.1, the current version.'],
  [
    'patch',
    { 'cli/package.json': '{ "version": "0.8.0" }' },
    'cli/package.json has version 0.8.0, and the root has 0.9.1. Make them equal.',
  ],
  [
    'patch',
    { 'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n### Later\n\n## 0.9.1\n\n- Old.\n' },
    'CHANGELOG.md says nothing below "## Unreleased". Write what changed, and commit it.',
  ],
  [
    'patch',
    { 'CHANGELOG.md': '# Changelog\n\n- New.\n' },
    'CHANGELOG.md says nothing below "## Unreleased". Write what changed, and commit it.',
  ],
] as const)('a release of %s with %j is refused', ([word, other, why]) => {
  expect(planRelease({ word, date, files: { ...files, ...other } })).toEqual({ type: 'refused', why })
})
