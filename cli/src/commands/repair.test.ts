import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FsckReport } from 'everlong/internal/node'
import { corrupt, generateWithTruth, session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import type { RepairedReport } from './repair/repair.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const { records: sound } = generateWithTruth({ seed: 31, turns: 5, boundaries: 1 })
const broken = corrupt(sound, 4)

test('a broken file is repaired into a new one that fsck finds clean, and is itself untouched', async () => {
  const file = folder.writeBytes('broken.jsonl', broken.bytes)
  const out = join(folder.path, 'mended.jsonl')
  const before = await everlong(['fsck', file, '--json'])
  const found: FsckReport = JSON.parse(before.stdout)
  expect([before.exitCode, found.errors > 0]).toEqual([1, true])

  const { records, ...rest } = await report<RepairedReport>('repair', file, '--out', out)
  expect(records).toBe(found.repaired.records)
  expect(Object.keys(rest)).toEqual(['from', 'to', 'linesRepaired', 'duplicatesDropped', 'parentsRepaired'])
  expect(readFileSync(file).equals(broken.bytes)).toBe(true)

  const after = await report<FsckReport>('fsck', out)
  expect(after).toMatchObject({ errors: 0, repaired: found.repaired })
})

test('nothing is ever overwritten', async () => {
  const file = folder.write('fine.jsonl', session().user('hi').records)
  const out = folder.writeBytes('there.jsonl', 'precious')
  const { exitCode, stdout, stderr } = await everlong(['repair', file, '--out', out])
  expect([exitCode, stdout, stderr]).toEqual([
    1,
    '',
    `everlong: ${out} exists and is not overwritten. Give --out another name.\n`,
  ])
  expect(readFileSync(out, 'utf8')).toBe('precious')
})

test('a place that is not there is one clear line', async () => {
  const file = folder.write('fine.jsonl', session().user('hi').records)
  const out = join(folder.path, 'no', 'such', 'place.jsonl')
  const { exitCode, stderr } = await everlong(['repair', file, '--out', out])
  expect([exitCode, stderr.split('\n').length]).toEqual([1, 2])
  expect(stderr).toContain(`the folder ${join(folder.path, 'no', 'such')} does not exist`)
  const compacted = await everlong(['compact', file, '--out', out])
  expect([compacted.exitCode, compacted.stderr]).toEqual([1, stderr])
})

test('a file without a record is no transcript, and nothing is written', async () => {
  const file = folder.writeBytes('notes.txt', 'some text\n')
  const out = join(folder.path, 'from-notes.jsonl')
  const { exitCode, stdout, stderr } = await everlong(['repair', file, '--out', out])
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toContain('does not look like a transcript')
  expect(existsSync(out)).toBe(false)
})

test('fsck of a sound file ends well', async () => {
  const file = folder.write('sound.jsonl', session().user('hi').assistant('yes').records)
  expect(await report<FsckReport>('fsck', file)).toEqual({
    path: file,
    isTranscript: true,
    findings: [],
    errors: 0,
    notes: 0,
    repaired: {
      records: 2,
      live: { entries: 2, assistantLines: 1, userLines: 1, messages: 1, toolUses: 0, toolResults: 0, unpaired: 0 },
    },
  })
})
