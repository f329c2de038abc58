// docs/settings.md is written from the table of settings. When the table has changed: npm test -- engine/src/settings -u
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settingPaths } from './core/settings/check.ts'
import { settingsPage } from './core/settings/testing/settings-page.ts'

test('docs/settings.md describes every setting of the table, with its default', async () => {
  const page = settingsPage(readFileSync(new URL('core/settings/table.ts', import.meta.url), 'utf8'))
  const listed = [...page.matchAll(/^\| `([\w.]+)` \| [^|]+ \| [^|]+ \| [^|]+ \|$/gm)].map(([, path]) => path)
  expect(listed).toEqual(settingPaths())
  await expect(page).toMatchFileSnapshot('../../docs/settings.md')
})
