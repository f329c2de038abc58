// Stores without a server, against the contract.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StoreError } from '../core/ports/store.ts'
import { runStoreContract } from '../testing/stores/contract.ts'
import { jsonlSessions } from './disk/jsonl.ts'
import { memorySessions } from './memory.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-stores-'))
  process.env.EVERLONG_CACHE_DIR = join(folder, 'cache')
})
afterEach(() => {
  delete process.env.EVERLONG_CACHE_DIR
  rmSync(folder, { recursive: true, force: true })
})

test('sessions in memory keep the contract of a store', async () => {
  expect(await runStoreContract({ store: memorySessions() })).toEqual({ broken: [] })
})

describe('sessions in a folder', () => {
  test('keep the contract of a store, and leave nothing when all are erased', async () => {
    const sessions = join(folder, 'sessions')
    const store = jsonlSessions({ folder: sessions })
    expect(await runStoreContract({ store, other: jsonlSessions({ folder: sessions }) })).toEqual({ broken: [] })
    expect(readdirSync(sessions)).toEqual([])
    expect(readdirSync(join(folder, 'cache', 'archive'))).toEqual([])
  })

  test('have ids that are plain names: no other file can be reached', async () => {
    const store = jsonlSessions({ folder })
    for (const id of ['../other', '/etc/passwd', 'a//b', '.', '', 'a\\b', 'x\u0000']) {
      await expect(store.open(id, { as: 'new' })).rejects.toThrow(StoreError)
    }
    expect(readdirSync(folder)).toEqual([])
  })
})
