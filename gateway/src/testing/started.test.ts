// The helpers of the tests clean up after themselves, in every file that uses them.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { setUp } from './setup.ts'
import { ask, clientWith, started } from './started.ts'

const made: string[] = []

test('a gateway of a test can be used during the test', async () => {
  const { url, folder } = await started()
  made.push(folder)
  await ask(clientWith(url, undefined), 'Hello.')
  expect(existsSync(folder)).toBe(true)
})

test('afterwards it is closed, and its folder is gone', () => {
  expect(made.map((folder) => existsSync(folder))).toEqual([false])
})

test('a gateway that does not start leaves no folder either', async () => {
  const place = mkdtempSync(join(tmpdir(), 'everlong-place-'))
  vi.stubEnv('TMPDIR', place)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(place, { recursive: true, force: true })
  })
  await expect(setUp({ config: { listen: { host: '256.0.0.1', port: 0 } } })).rejects.toThrow()
  expect(readdirSync(place)).toEqual([])
})
