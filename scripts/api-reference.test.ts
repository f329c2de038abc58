// docs/api is written from the source. When a public type or its comment has changed: npm test -- scripts/api-reference -u
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { apiReference } from './api-reference.ts'
import { root } from './steps.ts'

const engine = join(root, 'engine')
const { exports } = JSON.parse(readFileSync(join(engine, 'package.json'), 'utf8')) as {
  exports: Record<string, string>
}
const entries = Object.entries(exports).filter(
  ([subpath, source]) => source.endsWith('.ts') && !subpath.startsWith('./internal'),
)

test.each(entries)('docs/api describes the names of %s', async (subpath, source) => {
  const name = subpath.replace(/^\.\/?/, '')
  const page = apiReference(join('everlong', name), join(engine, source))
  await expect(page).toMatchFileSnapshot(join(root, 'docs', 'api', `${name || 'everlong'}.md`))
})
