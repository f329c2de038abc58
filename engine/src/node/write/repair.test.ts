import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { corrupt, generateWithTruth, serialize, session } from '../../testing/index.ts'
import { openLive } from '../read/transcript.ts'
import { fsck, repair } from './repair.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-repair-'))
process.env.EVERLONG_CACHE_DIR = join(folder, 'cache')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const fresh = () => join(folder, `${++files}.jsonl`)
const write = (bytes: string | Uint8Array): string => {
  const path = fresh()
  writeFileSync(path, bytes)
  return path
}

describe('fsck', () => {
  test('has nothing to say of a sound file', () => {
    const path = write(session().user('hello').assistant('hi').text)
    expect(fsck(path)).toMatchObject({ findings: [], errors: 0, notes: 0, repaired: { records: 2 } })
  })

  test('names the line of each thing that is wrong', () => {
    const good = session().user('one').assistant('two').user('three', { parent: 'gone' }).toolUse('t1', 'Bash')
    const [a, b, c, d] = good.records.map((record) => serialize(record).trim())
    const path = write(`${a}${b}\n{"parentUuid":"x","type":"us\n${a}\n${c}\n${d}\n{"torn`)
    expect(fsck(path).findings).toEqual([
      { type: 'several-records', severity: 'error', line: 1, text: 'holds more than one record; each is read' },
      { type: 'lost-text', severity: 'error', line: 2, text: 'holds 28 characters that are no whole record' },
      {
        type: 'torn',
        severity: 'error',
        line: 6,
        text: 'was cut while it was written: 6 characters of a record that never became whole',
      },
      {
        type: 'duplicate',
        severity: 'error',
        line: 3,
        text: 'carries a uuid that was used before; the first one counts',
      },
      {
        type: 'orphan',
        severity: 'note',
        line: 4,
        text: 'hangs on gone, which is not in this file; it is attached to line 1',
      },
      {
        type: 'unpaired',
        severity: 'note',
        line: undefined,
        text: '1 tool call of the live window without a result (interrupted, or still running)',
      },
    ])
  })

  test('changes nothing on disk', () => {
    const path = write('{"torn')
    const before = statSync(path).mtimeMs
    fsck(path)
    expect([readFileSync(path, 'utf8'), statSync(path).mtimeMs]).toEqual(['{"torn', before])
  })
})

describe('repair', () => {
  test('copies a sound file byte for byte', () => {
    const { records } = generateWithTruth({ seed: 5, turns: 4, boundaries: 2, kept: 'before' })
    const text = records.map(serialize).join('')
    const to = fresh()
    expect(repair(write(text), to)).toMatchObject({ type: 'repaired', linesRepaired: 0, parentsRepaired: 0 })
    expect(readFileSync(to, 'utf8')).toBe(text)
    expect(statSync(to).mode & 0o777).toBe(0o600)
  })

  test('never writes over a file, not even over the original', () => {
    const path = write('{"type":"mode"}\n')
    expect(repair(path, path)).toEqual({ type: 'refused', reason: 'exists', path })
    expect(readFileSync(path, 'utf8')).toBe('{"type":"mode"}\n')
  })

  test('keeps numbers that JavaScript cannot hold, since whole records are not written anew', () => {
    const line = '{"type":"mode","big":12345678901234567890.10}'
    const to = fresh()
    repair(write(`${line}${line}\n`), to)
    expect(readFileSync(to, 'utf8')).toBe(`${line}\n${line}\n`)
  })

  test('of any damaged file has no errors left, the same live window, and nothing more to repair', {
    timeout: 90_000,
  }, () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (seed, damage) => {
        const { bytes } = corrupt(generateWithTruth({ seed, turns: 3, boundaries: 1, kept: 'before' }).records, damage)
        const from = write(bytes)
        const to = fresh()
        repair(from, to)
        expect(fsck(to)).toMatchObject({ errors: 0, notes: expect.any(Number) })
        const uuids = (path: string) => openLive(path).entries.map(({ record }) => record.uuid)
        expect(uuids(to)).toEqual(uuids(from))
        const again = fresh()
        repair(to, again)
        expect(readFileSync(again).equals(readFileSync(to))).toBe(true)
      }),
      { numRuns: 40 },
    )
  })
})
