import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { workspaceFiles } from './session-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-files-'))
const root = join(folder, 'work')
const secret = join(folder, 'secret.txt')
beforeAll(() => {
  mkdirSync(join(root, 'src'), { recursive: true })
  writeFileSync(join(root, 'src', 'a.ts'), 'export const a = 1\n')
  writeFileSync(join(root, 'picture'), Buffer.from([1, 0, 2]))
  writeFileSync(secret, 'hidden')
  symlinkSync(secret, join(root, 'link'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const outside = { type: 'refused', why: 'it is outside the workspace', isOutside: true }

test('files of the workspace are read as they are; the rest is told apart', async () => {
  const files = workspaceFiles({ root })
  expect(await files.read('src/a.ts')).toEqual({ type: 'text', text: 'export const a = 1\n' })
  expect(await files.read(join(root, 'src', 'a.ts'))).toEqual({ type: 'text', text: 'export const a = 1\n' })
  expect(await files.read('picture')).toEqual({ type: 'binary', bytes: 3 })
  expect(await files.read('none')).toEqual({ type: 'missing' })
  expect(await files.read('src')).toEqual({ type: 'refused', why: 'it is not a file' })
})

test('no path and no link leads out, unless the session had read that file before', async () => {
  const files = workspaceFiles({ root })
  expect(await files.read(secret)).toEqual(outside)
  expect(await files.read('../secret.txt')).toEqual(outside)
  expect(await files.read('link')).toEqual(outside)
  const allowing = workspaceFiles({ root, isAllowed: (path) => path === secret })
  expect(await allowing.read(secret)).toEqual({ type: 'text', text: 'hidden' })
  expect(await allowing.read('link')).toEqual(outside)
})
