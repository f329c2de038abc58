import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Disk, nodeDisk, systemError } from './disk.ts'
import { watchedDisk } from './testing/watched-disk.ts'
import { openWriter, type TranscriptWriter, type WriterOptions } from './writer.ts'

let folder = ''
let session = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-writer-'))
  session = join(folder, 'session.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function open(path = session, options: Partial<WriterOptions> = {}): Promise<TranscriptWriter> {
  const result = await openWriter(path, { owner: 'a test', ...options })
  if (result.type !== 'opened') throw new Error(JSON.stringify(result))
  return result.writer
}

const linesOf = (path = session) => readFileSync(path, 'utf8').split('\n').slice(0, -1)
const recordsOf = (path = session) => linesOf(path).map((line): unknown => JSON.parse(line))
const parses = (line: string) => {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

const anyRecords = fc.array(
  fc
    .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }), {
      maxKeys: 4,
      noNullPrototype: true,
    })
    .map((record) => {
      const { uuid: _uuid, parentUuid: _parent, logicalParentUuid: _logical, ...rest } = record
      return JSON.parse(JSON.stringify(rest)) as Record<string, unknown>
    }),
  { maxLength: 8 },
)

describe('what is written', () => {
  test('reads back the same and in order, one record or several at a time, over any number of openings', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecords, { maxLength: 4 }), async (openings) => {
        rmSync(session, { force: true })
        for (const [at, records] of openings.entries()) {
          const writer = await open()
          if (at % 2 === 0) for (const record of records) expect(writer.append(record).type).toBe('appended')
          else expect(writer.appendAll(records).type).toBe('appended')
          writer.close()
        }
        expect(openings.length === 0 ? [] : recordsOf()).toEqual(openings.flat())
      }),
      { numRuns: 60 },
    )
  })

  test('says how much it was', async () => {
    const writer = await open()
    expect(writer.append({ a: 'é' })).toEqual({ type: 'appended', records: 1, bytes: 11 })
    expect(writer.appendAll([{}, {}])).toEqual({ type: 'appended', records: 2, bytes: 6 })
    expect(writer.appendAll([])).toEqual({ type: 'appended', records: 0, bytes: 0 })
    expect(writer.close()).toEqual({ type: 'flushed' })
    expect(readFileSync(session, 'utf8')).toBe('{"a":"é"}\n{}\n{}\n')
    expect(readdirSync(folder)).toEqual(['session.jsonl'])
  })

  test('is one write for one record, and one for all records of a compaction', async () => {
    const done: (keyof Disk)[] = []
    const writer = await open(session, { ports: { disk: watchedDisk((operation) => done.push(operation)) } })
    done.length = 0
    writer.append({ uuid: 'a', parentUuid: null, text: 'x'.repeat(3_000_000) })
    writer.appendAll([{ uuid: 'b', parentUuid: 'a' }, { uuid: 'c', parentUuid: 'b' }, { type: 'mode' }])
    expect(done.filter((operation) => operation === 'write')).toEqual(['write', 'write'])
    writer.close()
  })

  test('costs the same operations in a session of 10,000 records as in one of 10', async () => {
    const done: (keyof Disk)[] = []
    const disk = watchedDisk((operation) => done.push(operation))
    const costAfter = async (count: number) => {
      const path = join(folder, `${count}.jsonl`)
      const writer = await open(path, { ports: { disk } })
      for (let at = 0; at < count; at++) writer.append({ uuid: `${at}`, parentUuid: at === 0 ? null : `${at - 1}` })
      done.length = 0
      writer.append({ uuid: 'last', parentUuid: `${count - 1}` })
      writer.close()
      return [...done]
    }
    const few = await costAfter(10)
    expect(few.length).toBeGreaterThan(0)
    expect(await costAfter(10_000)).toEqual(few)
  })

  test('is for its owner only: the file, the lock and the folders that had to be made', async () => {
    const deep = join(folder, 'one', 'two', 'session.jsonl')
    const writer = await open(deep)
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
      const writer = await open(session, { sync, ports: { disk } })
      writer.append({})
      writer.append({})
      const afterAppends = syncs
      writer.flush()
      const afterFlush = syncs
      writer.close()
      return [afterAppends, afterFlush, syncs]
    }
    expect([await syncsWith('never'), await syncsWith('turn'), await syncsWith('always')]).toEqual([
      [0, 0, 0],
      [0, 1, 2],
      [2, 3, 4],
    ])
  })
})

describe('a crash', () => {
  test('at any byte costs at most the record that was cut, and nothing that is written afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, fc.double({ min: 0, max: 1, noNaN: true }), async (records, where) => {
        rmSync(session, { force: true })
        const before = await open()
        before.appendAll(records)
        before.close()
        const size = statSync(session).size
        const cut = Math.round(where * size)
        const whole = linesOf()
        truncateSync(session, cut)

        const kept = readFileSync(session).subarray(0, cut)
        const after = await open()
        after.append({ after: 1 })
        after.appendAll([{ after: 2 }, { after: 3 }])
        after.close()

        const bytes = readFileSync(session)
        expect(Buffer.compare(bytes.subarray(0, cut), kept)).toBe(0)
        const lines = bytes.toString('utf8').split('\n').slice(0, -1)
        const wholeBefore = kept.toString('utf8').split('\n').length - 1
        expect(lines.slice(0, wholeBefore)).toEqual(whole.slice(0, wholeBefore))
        const rest = lines.slice(wholeBefore)
        expect(rest.slice(-3)).toEqual(['{"after":1}', '{"after":2}', '{"after":3}'])
        expect(rest.length).toBe(cut === 0 || kept.at(-1) === 0x0a ? 3 : 4)
        expect(lines.filter((line) => !parses(line)).length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 120 },
    )
  })

  test('at each byte of one small session does the same', async () => {
    // Byte by byte, so that a cut can also fall inside the é.
    const text = Buffer.from('{"a":"é"}\n{"b":[1,"\\n"]}\n{}\n').toString('latin1')
    for (let cut = 0; cut <= text.length; cut++) {
      writeFileSync(session, text.slice(0, cut), 'latin1')
      const writer = await open()
      writer.append({ after: cut })
      writer.close()
      const seam = cut === 0 || text[cut - 1] === '\n' ? '' : '\n'
      expect(readFileSync(session, 'latin1')).toBe(`${text.slice(0, cut)}${seam}{"after":${cut}}\n`)
      expect(linesOf().filter((line) => !parses(line)).length).toBeLessThanOrEqual(1)
    }
  })

  test('that left zeros at the end costs no later record', async () => {
    writeFileSync(session, '{"a":1}\n\0\0\0')
    const writer = await open()
    writer.append({ b: 2 })
    writer.close()
    expect(linesOf()).toEqual(['{"a":1}', '\0\0\0', '{"b":2}'])
  })
})

describe('a write that fails', () => {
  /** A disk that writes to the session at most `room` bytes, and can be told that nothing can be cut off. */
  function smallDisk() {
    const state = { room: Number.POSITIVE_INFINITY, canTruncate: true }
    const sessions = new Set<number>()
    const disk: Disk = {
      ...nodeDisk,
      open: (path, opening) => {
        const file = nodeDisk.open(path, opening)
        if (opening === 'append') sessions.add(file)
        else sessions.delete(file)
        return file
      },
      write: (file, bytes) => {
        if (!sessions.has(file)) return nodeDisk.write(file, bytes)
        if (state.room === 0) throw systemError('ENOSPC', 'no space left on device')
        // Short writes are the rule on this disk: never more than 5 bytes at a time.
        const written = nodeDisk.write(file, bytes.subarray(0, Math.min(state.room, 5)))
        state.room -= written
        return written
      },
      truncate: (file, size) => {
        if (!state.canTruncate) throw systemError('EPERM', 'not permitted')
        nodeDisk.truncate(file, size)
      },
    }
    return { state, disk }
  }
  const failed = (left: string) => ({
    type: 'write-failed',
    left,
    code: 'ENOSPC',
    message: 'no space left on device',
  })

  test('part of the way is carried on when it was only short', async () => {
    const writer = await open(session, { ports: { disk: smallDisk().disk } })
    expect(writer.append({ text: 'longer than five bytes' }).type).toBe('appended')
    writer.close()
    expect(recordsOf()).toEqual([{ text: 'longer than five bytes' }])
  })

  test('leaves nothing, of one record as of a whole compaction, and can be tried again', async () => {
    const { disk, state } = smallDisk()
    const writer = await open(session, { ports: { disk } })
    writer.append({ uuid: 'a' })
    for (const room of [0, 1, 12, 13, 14, 25]) {
      state.room = room
      expect(writer.appendAll([{ uuid: 'b' }, { uuid: 'c' }])).toEqual(failed('nothing'))
      expect(readFileSync(session, 'utf8')).toBe('{"uuid":"a"}\n')
    }
    state.room = Number.POSITIVE_INFINITY
    expect(writer.appendAll([{ uuid: 'b' }, { uuid: 'c' }]).type).toBe('appended')
    writer.close()
    expect(recordsOf()).toEqual([{ uuid: 'a' }, { uuid: 'b' }, { uuid: 'c' }])
  })

  test('and cannot be taken back leaves a line of its own', async () => {
    const { disk, state } = smallDisk()
    state.canTruncate = false
    const writer = await open(session, { ports: { disk } })
    writer.append({ uuid: 'a' })
    state.room = 7
    expect(writer.append({ uuid: 'b' })).toEqual(failed('part'))
    expect(writer.append({ uuid: 'b' })).toEqual(failed('nothing'))
    state.room = 1
    expect(writer.append({ uuid: 'b' })).toEqual(failed('part'))
    state.room = Number.POSITIVE_INFINITY
    expect(writer.append({ uuid: 'b' }).type).toBe('appended')
    expect(writer.append({ uuid: 'c' }).type).toBe('appended')
    writer.close()
    expect(linesOf()).toEqual(['{"uuid":"a"}', '{"uuid"', '{"uuid":"b"}', '{"uuid":"c"}'])
  })

  test('never takes back what somebody else has written', async () => {
    const { disk, state } = smallDisk()
    const writer = await open(session, {
      ports: {
        disk: {
          ...disk,
          write: (file, bytes) => {
            if (state.room === 0) writeFileSync(session, '{"theirs":1}\n', { flag: 'a' })
            return disk.write(file, bytes)
          },
        },
      },
    })
    writer.append({ uuid: 'a' })
    state.room = 5
    expect(writer.append({ uuid: 'b' })).toEqual(failed('part'))
    writer.close()
    expect(linesOf()).toEqual(['{"uuid":"a"}', '{"uui{"theirs":1}'])
  })

  test('to reach the disk is told apart: the record is in the file', async () => {
    const disk = watchedDisk((operation) => {
      if (operation === 'sync') throw systemError('EIO', 'input/output error')
    })
    writeFileSync(session, '{}\n')
    const writer = await open(session, { sync: 'always', ports: { disk } })
    const problem = { type: 'sync-failed', code: 'EIO', message: 'input/output error' }
    expect([writer.append({ a: 1 }), writer.flush(), writer.close()]).toEqual([problem, problem, problem])
    expect(recordsOf()).toEqual([{}, { a: 1 }])
  })

  test('since the file was removed says so, and the record is not lost without a word', async () => {
    const writer = await open()
    unlinkSync(session)
    expect(writer.append({})).toEqual({
      type: 'write-failed',
      left: 'nothing',
      code: 'ENOENT',
      message: `${session} was removed or replaced. Open it again to write.`,
    })
    writer.close()
  })
})

describe('a record that is refused', () => {
  test('writes nothing, nor does any other of its compaction', async () => {
    const writer = await open(session, { knows: (uuid) => uuid === 'old' })
    const result = writer.appendAll([
      { uuid: 'a', parentUuid: 'old' },
      { uuid: 'b', big: 1n },
    ])
    expect(result).toMatchObject({ type: 'refused', problem: { type: 'record-not-json', index: 1, where: 'big' } })
    expect(writer.append({ uuid: 'b', parentUuid: 'a' })).toMatchObject({
      type: 'refused',
      problem: { type: 'uuid-unknown', uuid: 'a' },
    })
    expect(readFileSync(session, 'utf8')).toBe('')
    expect(writer.append({ uuid: 'a', parentUuid: 'old' }).type).toBe('appended')
    expect(writer.append({ uuid: 'b', parentUuid: 'a' }).type).toBe('appended')
    writer.close()
  })

  test('is a mistake of the caller when the writer is closed', async () => {
    const writer = await open()
    writer.close()
    expect(writer.close()).toEqual({ type: 'flushed' })
    expect(() => writer.append({})).toThrow(`The writer of ${session} is closed. Open it again to write.`)
  })
})

describe('a session that somebody else writes', () => {
  test('is refused with who it is', async () => {
    const first = await open()
    expect(await openWriter(session, { owner: 'another' })).toEqual({
      type: 'held',
      by: { owner: 'a test', pid: process.pid, host: expect.any(String), since: expect.any(String) },
    })
    first.close()
    expect((await openWriter(session, { owner: 'another' })).type).toBe('opened')
  })

  test('can be forked: the whole records so far, in a new file with a lease of its own', async () => {
    writeFileSync(session, '{"torn\n')
    const first = await open()
    first.append({ uuid: 'a', text: 'é'.repeat(1_500_000) })
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
    expect(result.writer.append({ uuid: 'b', parentUuid: 'a' }).type).toBe('appended')
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
