// Sessions at rest, encrypted: in memory, in a folder and in PostgreSQL.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createEngine, offline } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import { runStoreContract } from 'everlong/testing'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { everyStore } from '../../../engine/src/stores/testing/every-store.ts'
import { recordsIn } from '../testing/setup.ts'
import { createCipher } from './cipher.ts'
import { encryptedSessions } from './sessions.ts'

const every = await everyStore()
afterAll(every.stop)

const keyOf = (id: string) => ({ id, secret: randomBytes(32).toString('base64') })
const [old, current] = [keyOf('old'), keyOf('current')]

test('what was sealed opens as it was, and nothing of it but the readable fields is in the sealed record', () => {
  const { seal, open } = createCipher([current])
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.uuid(), (value, uuid) => {
      const record = { uuid, parentUuid: null, type: 'user', message: { secret: 'heron', value } } as JsonObject
      const sealed = seal(record)
      expect(Object.keys(sealed)).toEqual(['uuid', 'parentUuid', 'type', 'everlongSealed'])
      expect(JSON.stringify(sealed)).not.toContain('heron')
      expect(open(JSON.parse(JSON.stringify(sealed)))).toEqual(JSON.parse(JSON.stringify(record)))
    }),
  )
})

test('a record that is sealed again is the same, and no two records have the same first bytes', () => {
  const { seal } = createCipher([current])
  const ivOf = (record: JsonObject) => JSON.stringify(seal(record)).split('"data":"')[1]?.slice(0, 16)
  const record = { uuid: 'u', message: 'heron' }
  expect(seal(record)).toEqual(seal({ ...record }))
  const others = [record, { ...record, uuid: 'v' }, { ...record, message: 'crane' }].map(ivOf)
  expect(new Set(others).size).toBe(3)
})

test('a new key seals, an old one still opens, and without it the error names it', () => {
  const record = { uuid: 'u', type: 'user', message: 'heron' }
  const sealed = createCipher([old]).seal(record)
  const both = createCipher([current, old])
  expect(both.open(sealed)).toEqual(record)
  expect(both.seal(record)).toMatchObject({ everlongSealed: { key: 'current' } })
  expect(() => createCipher([current]).open(sealed)).toThrow('the key "old", which is not given')
  expect(() => createCipher([{ id: 'old', secret: current.secret }]).open(sealed)).toThrow('cannot be decrypted')
  expect(createCipher([current]).open(record)).toBe(record)
})

test.each([
  ['a readable field', (record: JsonObject) => ({ ...record, parentUuid: 'other' })],
  ['an added field', (record: JsonObject) => ({ ...record, isSidechain: true })],
  ['the id', (record: JsonObject) => ({ ...record, uuid: 'v' })],
  [
    'a byte',
    (record: JsonObject) => {
      const { key, data } = record.everlongSealed as { readonly key: string; readonly data: string }
      const bytes = Buffer.from(data, 'base64')
      bytes[20] = (bytes[20] ?? 0) ^ 1
      return { ...record, everlongSealed: { key, data: bytes.toString('base64') } }
    },
  ],
])('a record in which somebody changed %s does not open', (_, change) => {
  const { seal, open } = createCipher([current])
  expect(() => open(change(seal({ uuid: 'u', parentUuid: null, message: 'heron' })))).toThrow('cannot be decrypted')
})

describe.each(every.stores)('in %s', (_, makeStore) => {
  test('an encrypted store keeps every promise of a store', async () => {
    const store = encryptedSessions(makeStore(), createCipher([current]))
    expect(await runStoreContract({ store })).toEqual({ broken: [] })
  })

  test('an engine continues an encrypted session, searches it, and the store has no word of it', async () => {
    const plain = makeStore()
    const store = encryptedSessions(plain, createCipher([current]))
    const engine = createEngine({ model: offline(), store })
    const session = await engine.start({ id: 'chat', user: 'ann' })
    session.add({ role: 'user', content: 'The heron is grey.' })
    await session.close()
    const again = await engine.open('chat')
    expect(again.messages()).toHaveLength(1)
    expect((await again.recall('heron')).matches).toMatchObject([{ snippet: 'The heron is grey.' }])
    await again.close()
    expect(JSON.stringify(await recordsIn(plain, 'chat'))).not.toMatch(/heron|grey/)
    expect(JSON.stringify(await recordsIn(store, 'chat'))).toContain('The heron is grey.')
  })
})

test('no file of a folder has a word of it', async () => {
  const [, place] = every.places[0] ?? []
  const at = place?.()
  const folder = at?.type === 'folder' ? at.folder : ''
  const { jsonlSessions } = await import('everlong/node')
  const store = encryptedSessions(jsonlSessions({ folder }), createCipher([current]))
  const session = await createEngine({ model: offline(), store }).start({ id: 'chat' })
  session.add({ role: 'user', content: 'The heron is grey.' })
  await session.close()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((item) => item.isFile())
  expect(files.map(({ name }) => name)).toContain('chat.jsonl')
  for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name), 'utf8')).not.toMatch(/heron/)
})
