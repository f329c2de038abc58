import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { lastCompaction } from './last-compaction.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-rollout-'))
afterAll(() => rmSync(folder, { recursive: true }))

const first = `${JSON.stringify({ timestamp: '2026-11-16T04:36:31.000Z', type: 'response_item', payload: {} })}\n`
const compacted = (message: string) =>
  `${JSON.stringify({ timestamp: '2026-11-16T04:36:31.000Z', type: 'compacted', payload: { message, replacement_history: [] } })}\n`
/** How much is read at first. */
const megabyte = 1 << 20

test.each([
  ['in the first part that is read', 10],
  ['that starts just before it', megabyte + 20],
  ['that starts far before it', 3 * megabyte],
])('the last compaction, in a line %s, is found with its start', (_, length) => {
  const padding = 'x'.repeat(Math.max(1, length - compacted('').length))
  const path = join(folder, `rollout-${length}.jsonl`)
  writeFileSync(path, first + compacted('old') + compacted(padding))
  expect(lastCompaction(path)).toMatchObject({ start: first.length + compacted('old').length, shown: [padding] })
})
