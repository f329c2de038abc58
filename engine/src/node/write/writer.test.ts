import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { opened, recordsOf, temporaryFolders, watchedDisk, withoutUuids } from '../testing/sessions.ts'
import type { Disk } from './disk.ts'
import { heldMessage, openWriter } from './writer.ts'

const anyKey = fc.string({ unit: 'binary' })
const anyRecord = fc.dictionary(anyKey, fc.jsonValue({ stringUnit: 'binary' }), { maxKeys: 4 }).map(withoutUuids)
const anyRecords = fc.array(anyRecord, { maxLength: 8 })

const folders = temporaryFolders()
let folder = ''
let session = ''
beforeEach(() => {
  folder = folders.next()
  session = join(folder, 'session.jsonl')
})
afterAll(folders.remove)

describe('what is written', () => {
  test('reads back the same and in order, one record or several at a time, over any number of openings', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecords, { maxLength: 4 }), async (openings) => {
        rmSync(session, { force: true })
        for (const [at, records] of openings.entries()) {
          const writer = await opened(session)
          if (at % 2 === 0) for (const record of records) expect(writer.appendAll([record]).type).toBe('appended')
          else expect(writer.appendAll(records).type).toBe('appended')
          writer.close()
        }
        expect(openings.length === 0 ? [] : recordsOf(session)).toEqual(openings.flat())
      }),
      { numRuns: 60 },
    )
  })

  test('is in the order of the calls, however many call at once', async () => {
    const order: string[] = []
    const writer = await opened(session)
    const callers = Array.from({ length: 5 }, async (_, caller) => {
      for (let at = 0; at < 20; at++) {
        order.push(`${caller} ${at}`)
        writer.appendAll([{ call: `${caller} ${at}` }])
        await Promise.resolve()
      }
    })
    await Promise.all(callers)
    writer.close()
    expect(recordsOf(session)).toEqual(order.map((call) => ({ call })))
  })

  test('says how much it was', async () => {
    const writer = await opened(session)
    expect(writer.appendAll([{ a: 'é' }])).toEqual({ type: 'appended', records: 1, bytes: 11 })
    expect(writer.appendAll([{}, {}])).toEqual({ type: 'appended', records: 2, bytes: 6 })
    expect(writer.appendAll([])).toEqual({ type: 'appended', records: 0, bytes: 0 })
    expect(writer.close()).toEqual({ type: 'flushed' })
    expect(readFileSync(session, 'utf8')).toBe('{"a":"é"}\n{}\n{}\n')
    expect(readdirSync(folder)).toEqual(['session.jsonl'])
  })

  test('is one write for one record, and one for all records of a compaction', async () => {
    const done: (keyof Disk)[] = []
    const writer = await opened(session, { ports: { disk: watchedDisk((operation) => done.push(operation)) } })
    done.length = 0
    writer.appendAll([{ uuid: 'a', parentUuid: null, text: 'x'.repeat(3_000_000) }])
    writer.appendAll([{ uuid: 'b', parentUuid: 'a' }, { uuid: 'c', parentUuid: 'b' }, { type: 'mode' }])
    expect(done.filter((operation) => operation === 'write')).toEqual(['write', 'write'])
    writer.close()
  })

  test('costs the same operations in a session of 10,000 records as in one of 10', async () => {
    const done: (keyof Disk)[] = []
    const disk = watchedDisk((operation) => done.push(operation))
    const costAfter = async (count: number) => {
      const path = join(folder, `${count}.jsonl`)
      const writer = await opened(path, { ports: { disk } })
      for (let at = 0; at < count; at++)
        writer.appendAll([{ uuid: `${at}`, parentUuid: at === 0 ? null : `${at - 1}` }])
      done.length = 0
      writer.appendAll([{ uuid: 'last', parentUuid: `${count - 1}` }])
      writer.close()
      return [...done]
    }
    const few = await costAfter(10)
    expect(few.length).toBeGreaterThan(0)
    expect(await costAfter(10_000)).toEqual(few)
  })

  test('is for its owner only: the file, the lock and the folders that had to be made', async () => {
    const deep = join(folder, 'one', 'two', 'session.jsonl')
    const writer = await opened(deep)
    const modes = [deep, `${deep}.lock`, join(folder, 'one', 'two'), join(folder, 'one')].map((path) =>
      (statSync(path).mode & 0o777).toString(8),
    )
    expect(modes).toEqual(['600', '600', '700', '700'])
    writer.close()
  })

  test('goes to the disk as often as was asked for', async () => {
    const syncsWith = async (sync: 'never' | 'turn' | 'always') => {
      let syncs = 0
      const disk = watchedDisk((operation) => {
        if (operation === 'sync') syncs++
      })
      writeFileSync(session, '{}\n')
      const writer = await opened(session, { sync, ports: { disk } })
      writer.appendAll([{}])
      writer.appendAll([{}])
      const afterAppends = syncs
      writer.flush()
      const afterFlush = syncs
      writer.close()
      return [afterAppends, afterFlush, syncs]
    }
    // Once for the file's name in its folder when it is opened, then for its bytes.
    expect([await syncsWith('never'), await syncsWith('turn'), await syncsWith('always')]).toEqual([
      [0, 0, 0],
      [1, 2, 3],
      [3, 4, 5],
    ])
  })
})

describe('a record that is refused', () => {
  test('writes nothing, nor does any other of its compaction', async () => {
    const writer = await opened(session, { knows: (uuid) => uuid === 'old' })
    const result = writer.appendAll([
      { uuid: 'a', parentUuid: 'old' },
      { uuid: 'b', big: 1n },
    ])
    expect(result).toMatchObject({
      type: 'refused',
      message: expect.stringContaining('Record 1: big is of type bigint'),
    })
    expect(writer.appendAll([{ uuid: 'b', parentUuid: 'a' }])).toMatchObject({
      type: 'refused',
      message: expect.stringContaining('parentUuid a is not a record of this session'),
    })
    expect(readFileSync(session, 'utf8')).toBe('')
    expect(writer.appendAll([{ uuid: 'a', parentUuid: 'old' }]).type).toBe('appended')
    expect(writer.appendAll([{ uuid: 'b', parentUuid: 'a' }]).type).toBe('appended')
    writer.close()
  })

  test('is a mistake of the caller when the writer is closed', async () => {
    const writer = await opened(session)
    writer.close()
    expect(writer.close()).toEqual({ type: 'flushed' })
    expect(() => writer.appendAll([{}])).toThrow(`The writer of ${session} is closed. Open it again to write.`)
  })
})

describe('a session that somebody else writes', () => {
  test('is refused with who it is', async () => {
    const first = await opened(session)
    expect(await openWriter(session, { owner: 'another' })).toEqual({
      type: 'held',
      by: { owner: 'a test', pid: process.pid, host: expect.any(String), since: expect.any(String) },
    })
    first.close()
    expect((await openWriter(session, { owner: 'another' })).type).toBe('opened')
  })

  test('says for one on another machine when the session is free if that one has ended', () => {
    const by = { owner: 'a test', pid: 12, host: 'container-1', since: '2026-01-02T03:04:05.000Z' }
    const held = 's.jsonl is being written by a test (process 12 on container-1, since 2026-01-02T03:04:05.000Z).'
    expect(heldMessage('s.jsonl', by)).toBe(held)
    expect(heldMessage('s.jsonl', { ...by, freeInMs: 12_001 })).toBe(
      `${held} Whether that process still runs cannot be checked from here: if it has ended, the session is free in 13 s.`,
    )
  })

  test('can be forked: the whole records so far, in a new file with a lease of its own', async () => {
    writeFileSync(session, '{"torn\n')
    const first = await opened(session)
    first.appendAll([{ uuid: 'a', text: 'é'.repeat(1_500_000) }])
    const whole = readFileSync(session)
    writeFileSync(session, '{"uuid":"half', { flag: 'a' })
    let ids = 0
    const result = await openWriter(session, {
      owner: 'another',
      ifHeld: 'fork',
      knows: (uuid) => uuid === 'a',
      ports: { newId: () => `id-${++ids}` },
    })
    if (result.type !== 'opened') throw new Error(JSON.stringify(result))
    expect(result.forkedFrom).toBe(session)
    expect(result.writer.appendAll([{ uuid: 'b', parentUuid: 'a' }]).type).toBe('appended')
    expect(result.writer.path).toBe(join(folder, 'id-2.jsonl'))
    expect(readdirSync(folder)).toEqual(['id-2.jsonl', 'id-2.jsonl.lock', 'session.jsonl', 'session.jsonl.lock'])
    const copy = readFileSync(result.writer.path)
    expect(Buffer.compare(copy.subarray(0, whole.length), whole)).toBe(0)
    expect(copy.subarray(whole.length).toString()).toBe('{"uuid":"b","parentUuid":"a"}\n')
    expect(statSync(result.writer.path).mode & 0o777).toBe(0o600)
    result.writer.close()
    first.close()
  })
})

describe('a path that cannot be written', () => {
  test('is told as the system tells it, and no lock stays behind', async () => {
    const target = join(folder, 'elsewhere')
    writeFileSync(target, '')
    symlinkSync(target, session)
    expect(await openWriter(session, { owner: 'a test' })).toMatchObject({ type: 'open-failed', code: 'ELOOP' })
    mkdirSync(join(folder, 'a-folder'))
    expect(await openWriter(join(folder, 'a-folder'), { owner: 'a test' })).toMatchObject({
      type: 'open-failed',
      code: 'EISDIR',
    })
    expect(await openWriter(join(target, 'below.jsonl'), { owner: 'a test' })).toMatchObject({ type: 'open-failed' })
    expect(readdirSync(folder)).toEqual(['a-folder', 'elsewhere', 'session.jsonl'])
    expect(readFileSync(target, 'utf8')).toBe('')
  })
})
