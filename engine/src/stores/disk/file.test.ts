// How a session reports failures of its file.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { StoredSession } from '../../core/session/stored-session.ts'
import { systemPorts } from '../../models/ports.ts'
import { temporaryFolders } from '../../node/testing/sessions.ts'
import { type Disk, nodeDisk, systemError } from '../../node/write/disk.ts'
import type { Sync } from '../../node/write/writer.ts'
import { openTranscript } from './file.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

const record = (uuid: string) => ({ type: 'user', uuid, parentUuid: null, message: { role: 'user', content: 'Go.' } })

async function opened(disk: Partial<Disk>, sync: Sync = 'always') {
  const path = join(folders.next(), 'session.jsonl')
  const ports = { disk: { ...nodeDisk, ...disk } }
  const result = await openTranscript(path, { as: 'new', owner: 'test', sync, ports })
  if (result.type !== 'opened') throw new Error(result.why)
  return {
    store: new StoredSession(result.session, { newId: () => 'made', ...systemPorts }),
    text: () => readFileSync(path, 'utf8'),
  }
}

test('a record that was written but not flushed counts as stored: stored again it would be there twice', async () => {
  let isBroken = false
  const { store, text } = await opened({
    sync: (file) => {
      if (isBroken) throw systemError('EIO', 'no flush')
      nodeDisk.sync(file)
    },
  })
  isBroken = true
  expect(store.append([record('u1')])).toEqual({ type: 'stored' })
  expect(text()).toContain('"u1"')
  isBroken = false
  await store.close()
})

test.each<[Sync, readonly number[]]>([
  ['never', [0, 0, 0]],
  ['turn', [0, 1, 2]],
  ['always', [1, 2, 4]],
])(
  'with sync: %s, records are forced to the disk after each append, at the end of a turn, or never',
  async (sync, wanted) => {
    let forced = 0
    const counting = (file: number) => {
      forced++
      nodeDisk.sync(file)
    }
    const { store } = await opened({ sync: counting }, sync)
    const start = forced
    const seen: number[] = []
    store.append([record('u1')])
    seen.push(forced - start)
    await store.flush()
    seen.push(forced - start)
    store.append([record('u2')])
    await store.flush()
    seen.push(forced - start)
    await store.close()
    expect(seen).toEqual(wanted)
  },
)

test('a turn whose records could not be forced to the disk says so, and the next one tries again', async () => {
  let isBroken = false
  const sync = (file: number) => {
    if (isBroken) throw systemError('EIO', 'no flush')
    nodeDisk.sync(file)
  }
  const { store } = await opened({ sync }, 'turn')
  isBroken = true
  expect(store.append([record('u1')])).toEqual({ type: 'stored' })
  expect(await store.flush()).toMatchObject({ type: 'store-failed', why: expect.stringContaining('no flush') })
  isBroken = false
  expect(await store.flush()).toEqual({ type: 'stored' })
  await store.close()
})

test('a record that a full disk refused is stored by the next attempt, once', async () => {
  let isFull = false
  const { store, text } = await opened({
    write: (file, bytes) => {
      if (isFull) throw systemError('ENOSPC', 'no space left on the disk')
      return nodeDisk.write(file, bytes)
    },
  })
  isFull = true
  expect(store.append([record('u1')])).toMatchObject({ type: 'store-failed', reason: 'unavailable' })
  isFull = false
  expect(store.append([record('u1')])).toEqual({ type: 'stored' })
  expect(text()).toBe(`${JSON.stringify(record('u1'))}\n`)
  await store.close()
})
