// docs/api is written from the source. When a public type or its comment has changed: npm test -- scripts/api-reference -u
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { apiReference } from './api-reference.ts'
import { engine, entries } from './public-names.ts'
import { root } from './steps.ts'

test.each(entries)('docs/api describes the names of %s', async (subpath, source) => {
  const name = subpath.replace(/^\.\/?/, '')
  const page = apiReference(join('everlong', name), join(engine, source))
  await expect(page).toMatchFileSnapshot(join(root, 'docs', 'api', `${name || 'everlong'}.md`))
})
