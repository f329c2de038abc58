import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildPage } from '../build.ts'
import { builtPage } from './server/page.ts'

test('the built page is small: at most 600 kB, gzipped', { timeout: 120_000 }, async () => {
  const page = builtPage(await buildPage())
  expect(page.get('/index.html')).toBeDefined()
  const bytes = [...page.values()].reduce((sum, file) => sum + gzipSync(file.bytes).length, 0)
  expect(bytes).toBeLessThan(600_000)
})
