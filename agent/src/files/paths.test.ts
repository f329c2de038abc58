import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isWithin, openWorkspace } from './paths.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'everlong-paths-')))
afterAll(() => rmSync(base, { recursive: true }))
const [root, outside] = [join(base, 'work'), join(base, 'outside')]
for (const folder of [join(root, 'sub'), join(outside, 'deep')]) mkdirSync(folder, { recursive: true })
symlinkSync(outside, join(root, 'absolute'))
symlinkSync('../outside', join(root, 'relative'))
symlinkSync('sub', join(root, 'inner'))
symlinkSync(join(root, 'absolute'), join(root, 'sub', 'twice'))

test.each([
  ['sub/a', 'work/sub/a', true],
  ['absolute/deep/a', 'outside/deep/a', false],
  ['relative/a', 'outside/a', false],
  ['inner/a', 'work/sub/a', true],
  ['sub/twice/deep', 'outside/deep', false],
  ['absolute/../a', 'work/a', true],
  ['nowhere/at/all', 'work/nowhere/at/all', true],
])('%s leads to %s', async (given, real, isInside) => {
  const { place } = await openWorkspace(root)
  expect(await place(given)).toMatchObject({ real: join(base, real), isInside, leadsOut: !isInside })
})

test('a name that starts with two dots is a name, and two dots alone lead out', () => {
  const within = ['..a', '..a/b', '...', '.'].map((path) => isWithin('/w', join('/w', path)))
  const out = ['..', '../w2', '../../x'].map((path) => isWithin('/w', join('/w', path)))
  expect([within, out]).toEqual([
    [true, true, true, true],
    [false, false, false],
  ])
})
