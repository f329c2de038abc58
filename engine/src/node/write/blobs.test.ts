import { mkdirSync, readdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolders } from '../testing/sessions.ts'
import { openBlobs } from './blobs.ts'
import { nodeDisk, systemError } from './disk.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

const empty = 'sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name))
}

test('any bytes come back the same, and the same bytes lie on disk once', () => {
  const folder = folders.next()
  const blobs = openBlobs(folder)
  const stored = new Set<string>()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const first = blobs.put(bytes)
      expect(blobs.put(bytes)).toEqual(first)
      if (first.type !== 'stored') throw new Error(first.message)
      stored.add(first.id)
      expect(blobs.get(first.id)).toEqual({ type: 'found', bytes: Buffer.from(bytes) })
    }),
    { numRuns: 50 },
  )
  expect(filesBelow(folder).length).toBe(stored.size)
})

test('files and folders are for their owner only', () => {
  const folder = folders.next()
  openBlobs(folder).put(Buffer.from('secret'))
  const [file = ''] = filesBelow(folder)
  const modes = [file, dirname(file), join(folder, 'blobs')].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o600, 0o700, 0o700])
})

test('what is no id, or nobody stored, is not found', () => {
  const folder = folders.next()
  writeFileSync(join(folder, 'secret'), '')
  const blobs = openBlobs(folder)
  const ids = [
    '',
    '../secret',
    'sha256-../../secret',
    `${empty}/../..`,
    empty.toUpperCase(),
    `${empty}\n`,
    `\0${empty}`,
  ]
  expect([...ids, empty].map((id) => blobs.get(id))).toEqual([...ids, empty].map(() => ({ type: 'not-found' })))
})

test('damaged bytes are not handed out, and storing them again mends the blob', () => {
  const folder = folders.next()
  const blobs = openBlobs(folder)
  const stored = blobs.put(Buffer.from('all of it'))
  const id = stored.type === 'stored' ? stored.id : ''
  truncateSync(filesBelow(folder)[0] ?? '', 4)
  expect(blobs.get(id)).toEqual({ type: 'damaged' })
  blobs.put(Buffer.from('all of it'))
  expect(blobs.get(id)).toEqual({ type: 'found', bytes: Buffer.from('all of it') })
})

test('a link in the place of a blob is not followed', () => {
  const folder = folders.next()
  writeFileSync(join(folder, 'elsewhere'), '')
  const hex = empty.slice('sha256-'.length)
  mkdirSync(join(folder, 'blobs', hex.slice(0, 2)), { recursive: true })
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'blobs', hex.slice(0, 2), hex.slice(2)))
  expect(openBlobs(folder).get(empty)).toEqual({ type: 'not-found' })
})

test('a full disk is told, and leaves nothing behind', () => {
  const folder = folders.next()
  const write = () => {
    throw systemError('ENOSPC', 'no space left')
  }
  const result = openBlobs(folder, { ...nodeDisk, write }).put(Buffer.from('too much'))
  expect(result).toEqual({ type: 'store-failed', code: 'ENOSPC', message: 'no space left' })
  expect(filesBelow(folder)).toEqual([])
})
