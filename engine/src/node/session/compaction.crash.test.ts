import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runCompaction } from '../../core/compaction/run.ts'
import { type JsonObject, objectAt } from '../../core/message/json.ts'
import { textOf } from '../../core/message/message.ts'
import { noHooks } from '../../core/ports/hooks.ts'
import { createFold, type View } from '../../core/transcript/view/fold.ts'
import { offline } from '../../models/offline.ts'
import { generateWithTruth } from '../../testing/sessions/session.ts'
import { forEachEntry } from '../read/entries.ts'
import { readTranscript } from '../read/transcript.ts'
import { opened, temporaryFolders } from '../testing/sessions.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

function viewOf(path: string): View {
  const fold = createFold()
  forEachEntry(path, (entry) => fold.add(entry))
  return fold.view()
}

async function compactionOf(path: string): Promise<readonly JsonObject[]> {
  let ids = 0
  const result = await runCompaction(
    {
      trigger: 'auto',
      reason: 'test',
      view: viewOf(path),
      threshold: 0,
      sessionId: 's',
      restore: async () => ({
        pieces: [{ kind: 'files', title: 'File a.ts', text: 'export {}', tokens: 9, path: 'a.ts' }],
        notRestored: [],
        tokens: 9,
      }),
    },
    {
      now: () => Date.UTC(2026, 10, 2),
      newId: () => `c${++ids}`,
      model: offline(),
      hooks: noHooks,
      emit: () => undefined,
      wait: async () => undefined,
    },
  )
  if (result.type === 'failed') throw new Error(result.why)
  return result.records
}

const bytesOf = ({ messages }: View) => JSON.stringify(messages)

test('a kill at any byte of the one write leaves the conversation before it, or its summary', async () => {
  const path = join(folders.next(), 'session.jsonl')
  const { records } = generateWithTruth({ seed: 5, turns: 4, boundaries: 0 })
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const before = bytesOf(viewOf(path))
  const start = readFileSync(path).length
  const unit = await compactionOf(path)
  expect(unit.map(({ type }) => type)).toEqual(['system', 'user', 'attachment', 'user'])
  const writer = await opened(path, { knows: (uuid) => !/^c\d/.test(uuid) })
  expect(writer.appendAll(unit)).toMatchObject({ type: 'appended', records: 4 })
  writer.close()
  const whole = readFileSync(path)
  expect(bytesOf(readTranscript(path).view)).not.toBe(before)
  const summary = textOf(objectAt(unit[1], 'message')?.content)
  const step = Math.ceil((whole.length - start) / 60)
  const summaryEnd =
    start +
    Buffer.byteLength(
      unit
        .slice(0, 2)
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(''),
    )
  for (let cut = start; cut < whole.length; cut += step) {
    writeFileSync(path, whole)
    truncateSync(path, cut)
    const left = bytesOf(viewOf(path))
    if (cut < summaryEnd - 1) expect(left).toBe(before)
    else expect(textOf(viewOf(path).messages[0]?.content).startsWith(summary)).toBe(true)
    const isTorn = cut < whole.length - 1
    expect(bytesOf(readTranscript(path).view) === before).toBe(isTorn)
    const again = await opened(path, { knows: (uuid) => uuid !== 'next' })
    const tip = cut < summaryEnd - 1 ? records.at(-1)?.uuid : unit[1]?.uuid
    again.appendAll([
      { type: 'user', uuid: 'next', parentUuid: tip ?? null, message: { role: 'user', content: 'and on' } },
    ])
    again.close()
    expect(bytesOf(viewOf(path))).toContain('and on')
  }
})
