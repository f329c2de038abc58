import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { Transcript } from '../../core/session/transcript.ts'
import {
  clientStyles,
  generateCodexRollout,
  generateWithTruth,
  keptLayouts,
  serialize,
  session,
} from '../../testing/index.ts'
import { openArchive } from '../archive/archive.ts'
import { acquireLease } from '../lease/lease.ts'
import { readTranscript } from '../read/transcript.ts'
import { applyEdits } from './apply-edits.ts'
import { originalResults } from './keep-results.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-apply-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const written = (records: Parameters<typeof serialize>[0][]) => {
  const path = join(folder, `session-${files++}.jsonl`)
  writeFileSync(path, records.map(serialize).join(''))
  return path
}

const small = () =>
  written(
    session({ startTime: '2026-03-02T09:00:00.000Z' })
      .user('go')
      .assistant([{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }])
      .toolResult('t1', 'a\nb\nc\n')
      .assistant('done').records,
  )

const when = { owner: 'a test', now: Date.parse('2026-03-02T12:00:00.000Z') }
const clear = { type: 'clear-results', toolUseIds: ['t1'], mechanism: 'micro-by-size' } as const
const resultOf = ({ view }: Transcript) => JSON.stringify(view.messages[2]?.content)

describe('edits applied to a file', () => {
  test('are appended after what is there, hang on the newest entry, and are in force', async () => {
    const path = small()
    const before = readFileSync(path)
    const file = readTranscript(path)
    const results = originalResults(file, [{ toolUseId: 't1', uuids: file.view.sources[2]?.uuids ?? [] }])
    expect(results).toEqual([{ toolUseId: 't1', content: 'a\nb\nc\n' }])
    const applied = await applyEdits(file, [clear, { type: 'pin', uuid: 'nobody' }], { ...when, results })
    if (applied.type !== 'applied') throw new Error(applied.why)
    const after = readFileSync(path)
    expect(after.subarray(0, before.length).equals(before)).toBe(true)
    const [first, second] = after
      .subarray(before.length)
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([first.uuid, second.uuid]).toEqual(applied.uuids)
    expect(first).toMatchObject({
      parentUuid: file.place.parentUuid,
      sessionId: file.place.sessionId,
      timestamp: '2026-03-02T12:00:00.000Z',
      everlong: { edit: clear },
    })
    expect(second.parentUuid).toBe(first.uuid)
    expect(applied.stored.written.map((name) => readFileSync(name, 'utf8'))).toEqual(['a\nb\nc\n'])
    expect(resultOf(readTranscript(path))).toContain('[Old tool result content cleared]')
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  test('undone give back the very same view; the original can be recalled all the while', async () => {
    const path = small()
    const before = readTranscript(path)
    const results = originalResults(before, [{ toolUseId: 't1', uuids: before.view.sources[2]?.uuids ?? [] }])
    const applied = await applyEdits(before, [clear], { ...when, results })
    if (applied.type !== 'applied') throw new Error(applied.why)
    const archive = openArchive(path, { folder: join(folder, 'archive') })
    expect(archive.toolResult('t1')?.content).toBe('a\nb\nc\n')
    expect(archive.read('t1')?.text).toBe('a\nb\nc\n')
    // It is in the transcript and next to it, but is found only once.
    expect(archive.search({ words: 'b', kinds: ['tool-result'] }).matches.map(({ id }) => id)).toEqual(['t1'])
    archive.close()
    await applyEdits(
      readTranscript(path),
      applied.uuids.map((uuid) => ({ type: 'undo', uuid })),
      when,
    )
    expect(JSON.stringify(readTranscript(path).view.messages)).toBe(JSON.stringify(before.view.messages))
  })

  test('are not written while somebody else writes, and nothing else is either', async () => {
    const path = small()
    const before = readFileSync(path)
    const held = acquireLease(path, { owner: 'the agent' })
    if (held.type !== 'acquired') throw new Error('not acquired')
    const results = [{ toolUseId: 't1', content: 'x' }]
    const applied = await applyEdits(readTranscript(path), [clear], { ...when, results })
    held.lease.release()
    expect(applied).toMatchObject({ type: 'not-applied', why: expect.stringContaining('the agent') })
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(existsSync(path.replace('.jsonl', ''))).toBe(false)
  })

  test('are not written when the originals cannot be put beside the session', async () => {
    const path = small()
    const before = readFileSync(path)
    writeFileSync(path.replace('.jsonl', ''), 'in the way')
    const results = [{ toolUseId: 't1', content: 'x' }]
    expect((await applyEdits(readTranscript(path), [clear], { ...when, results })).type).toBe('not-applied')
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('are not written into the session of another agent', async () => {
    const path = written([...generateCodexRollout({ seed: 1, turns: 2 }).records])
    const before = readFileSync(path)
    expect(await applyEdits(readTranscript(path), [clear], when)).toMatchObject({
      type: 'not-applied',
      why: expect.stringContaining('codex'),
    })
    expect(readFileSync(path).equals(before)).toBe(true)
  })
})

describe('the view of a large file', () => {
  test('is the same as if the file were small, in every layout', () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.nat(100_000),
          style: fc.constantFrom(...clientStyles),
          kept: fc.constantFrom(...keptLayouts),
          turns: fc.integer({ min: 1, max: 5 }),
          boundaries: fc.integer({ min: 0, max: 2 }),
          images: fc.boolean(),
          microcompact: fc.boolean(),
          thinking: fc.constantFrom(0, 1),
          interrupted: fc.constantFrom(0, 0.5),
          wholeBytes: fc.constantFrom(0, 5_000, 20_000),
        }),
        ({ wholeBytes, ...options }) => {
          const path = written([...generateWithTruth(options).records])
          const whole = readTranscript(path)
          const thrifty = readTranscript(path, { wholeBytes })
          expect(thrifty.view).toEqual(whole.view)
          expect(thrifty.answered).toEqual(whole.answered)
          expect(thrifty.place).toEqual(whole.place)
        },
      ),
      { numRuns: 40 },
    )
  })
})
