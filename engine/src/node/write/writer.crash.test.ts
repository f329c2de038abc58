import { readFileSync, rmSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { linesOf, opened, parses, recordsOf, temporaryFolders, watchedDisk, withoutUuids } from '../testing/sessions.ts'
import { type Disk, nodeDisk, systemError } from './disk.ts'

const anyRecords = fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }).map(withoutUuids), {
  maxLength: 8,
})

const folders = temporaryFolders()
let session = ''
beforeEach(() => {
  session = join(folders.next(), 'session.jsonl')
})
afterAll(folders.remove)

describe('a crash', () => {
  test('at any byte costs at most the record that was cut, and nothing that is written afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, fc.double({ min: 0, max: 1, noNaN: true }), async (records, where) => {
        rmSync(session, { force: true })
        const before = await opened(session)
        before.appendAll(records)
        before.close()
        const size = statSync(session).size
        const cut = Math.round(where * size)
        const whole = linesOf(session)
        truncateSync(session, cut)

        const kept = readFileSync(session).subarray(0, cut)
        const after = await opened(session)
        after.appendAll([{ after: 1 }])
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
    // Byte by byte, so that a cut can also be inside the é.
    const text = Buffer.from('{"a":"é"}\n{"b":[1,"\\n"]}\n{}\n').toString('latin1')
    for (let cut = 0; cut <= text.length; cut++) {
      writeFileSync(session, text.slice(0, cut), 'latin1')
      const writer = await opened(session)
      writer.appendAll([{ after: cut }])
      writer.close()
      const seam = cut === 0 || text[cut - 1] === '\n' ? '' : '\n'
      expect(readFileSync(session, 'latin1')).toBe(`${text.slice(0, cut)}${seam}{"after":${cut}}\n`)
      expect(linesOf(session).filter((line) => !parses(line)).length).toBeLessThanOrEqual(1)
    }
  })

  test('that left zeros at the end costs no later record', async () => {
    writeFileSync(session, '{"a":1}\n\0\0\0')
    const writer = await opened(session)
    writer.appendAll([{ b: 2 }])
    writer.close()
    expect(linesOf(session)).toEqual(['{"a":1}', '\0\0\0', '{"b":2}'])
  })
})

describe('a write that fails', () => {
  /** A disk that writes at most `room` bytes to the session. Truncation can be made to fail. */
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
        // Short writes are normal on this disk: at most 5 bytes at a time.
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
    const writer = await opened(session, { ports: { disk: smallDisk().disk } })
    expect(writer.appendAll([{ text: 'longer than five bytes' }]).type).toBe('appended')
    writer.close()
    expect(recordsOf(session)).toEqual([{ text: 'longer than five bytes' }])
  })

  test('leaves nothing, of one record as of a whole compaction, and can be tried again', async () => {
    const { disk, state } = smallDisk()
    const writer = await opened(session, { ports: { disk } })
    writer.appendAll([{ uuid: 'a' }])
    for (const room of [0, 1, 12, 13, 14, 25]) {
      state.room = room
      expect(writer.appendAll([{ uuid: 'b' }, { uuid: 'c' }])).toEqual(failed('nothing'))
      expect(readFileSync(session, 'utf8')).toBe('{"uuid":"a"}\n')
    }
    state.room = Number.POSITIVE_INFINITY
    expect(writer.appendAll([{ uuid: 'b' }, { uuid: 'c' }]).type).toBe('appended')
    writer.close()
    expect(recordsOf(session)).toEqual([{ uuid: 'a' }, { uuid: 'b' }, { uuid: 'c' }])
  })

  test('and cannot be taken back leaves a line of its own', async () => {
    const { disk, state } = smallDisk()
    state.canTruncate = false
    const writer = await opened(session, { ports: { disk } })
    writer.appendAll([{ uuid: 'a' }])
    state.room = 7
    expect(writer.appendAll([{ uuid: 'b' }])).toEqual(failed('part'))
    expect(writer.appendAll([{ uuid: 'b' }])).toEqual(failed('nothing'))
    state.room = 1
    expect(writer.appendAll([{ uuid: 'b' }])).toEqual(failed('part'))
    state.room = Number.POSITIVE_INFINITY
    expect(writer.appendAll([{ uuid: 'b' }]).type).toBe('appended')
    expect(writer.appendAll([{ uuid: 'c' }]).type).toBe('appended')
    writer.close()
    expect(linesOf(session)).toEqual(['{"uuid":"a"}', '{"uuid"', '{"uuid":"b"}', '{"uuid":"c"}'])
  })

  test('never takes back what somebody else has written', async () => {
    const { disk, state } = smallDisk()
    const writer = await opened(session, {
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
    writer.appendAll([{ uuid: 'a' }])
    state.room = 5
    expect(writer.appendAll([{ uuid: 'b' }])).toEqual(failed('part'))
    writer.close()
    expect(linesOf(session)).toEqual(['{"uuid":"a"}', '{"uui{"theirs":1}'])
  })

  test('to reach the disk is told apart: the record is in the file', async () => {
    let broken = false
    const disk = watchedDisk((operation) => {
      if (broken && operation === 'sync') throw systemError('EIO', 'input/output error')
    })
    writeFileSync(session, '{}\n')
    const writer = await opened(session, { sync: 'always', ports: { disk } })
    broken = true
    const problem = { type: 'sync-failed', code: 'EIO', message: 'input/output error' }
    expect([writer.appendAll([{ a: 1 }]), writer.flush(), writer.close()]).toEqual([problem, problem, problem])
    expect(recordsOf(session)).toEqual([{}, { a: 1 }])
  })

  test('since the file was removed says so, and the record is not lost without a word', async () => {
    const writer = await opened(session)
    unlinkSync(session)
    expect(writer.appendAll([{}])).toEqual({
      type: 'write-failed',
      left: 'nothing',
      code: 'ENOENT',
      message: `${session} was removed or replaced. Open it again to write.`,
    })
    writer.close()
  })
})
