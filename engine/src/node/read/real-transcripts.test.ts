import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tallyOf } from '../../core/transcript/report/findings.ts'
import { isSidechainAt, typeAt } from '../../core/transcript/tree/graph.ts'
import { ancestryOf } from '../../core/transcript/tree/scan.ts'
import { openIndex } from '../index/sidecar.ts'
import { hasTranscripts, measuredOrphans, oracle, transcripts } from '../testing/real-data.ts'
import { forEachEntry, scanFile } from './entries.ts'
import { findSubagents } from './subagents.ts'
import { openLive } from './transcript.ts'

const inFolder = (name: string) => join(transcripts, name)

describe.skipIf(!hasTranscripts)('real transcripts (skipped where the folder is not there)', () => {
  test.each(oracle())('$file gives the numbers of the oracle', (row) => {
    const scan = scanFile(inFolder(row.file))
    const live = openLive(inFolder(row.file))
    expect({
      file: row.file,
      boundaries: scan.boundaries.length,
      stop: live.stop,
      ...tallyOf(live.entries),
      salvaged: scan.salvaged,
    }).toEqual(row)
    expect(scan.graph.orphans.length).toBe(measuredOrphans().get(row.file))
    expect(scan.graph.cuts).toEqual([])
    // The file with two objects on line 128 also repeats one of its records on line 131.
    expect(scan.table.duplicates.length).toBe(row.file.startsWith('05-') ? 1 : 0)
  })

  test.each(oracle())('$file has the same rows in its index as in a full scan', ({ file }) => {
    const { table } = scanFile(inFolder(file))
    const index = openIndex(inFolder(file), { folder: false })
    expect(index.rows).toBe(table.rows)
    for (const [id, row] of table.ids) expect(index.find(id)?.row).toBe(row)
    for (let row = 0; row < table.rows; row++) {
      expect(index.row(row)).toMatchObject({
        offset: table.offsets[row],
        length: table.lengths[row],
        line: table.lines[row],
        nth: table.nth[row],
        parent: table.parents[row],
        contextTokens: table.contextTokens[row],
      })
    }
  })

  test.each(oracle())('$file: the newest message descends from the first, across its compactions', ({ file }) => {
    const { table, boundaries, ...scan } = scanFile(inFolder(file))
    const main = [...table.ids].filter(([, row]) => typeAt(table, row) !== '' && !isSidechainAt(table, row))
    const [newest = ''] = main.findLast(([, row]) => ['user', 'assistant'].includes(typeAt(table, row))) ?? []
    const rows = ancestryOf({ table, boundaries, ...scan }, newest)
    expect(rows.at(0)).toBe(main[0]?.[1])
    expect(rows.at(-1)).toBe(table.ids.get(newest))
    // In file 09 the parent of the line after the compaction is the last kept message, so its ancestry skips the boundary.
    const passed = file.startsWith('09-') ? 0 : boundaries.length
    expect(rows.filter((row) => typeAt(table, row) === 'boundary').length).toBe(passed)
  })

  test('the pi session has its two compactions, each with the stretch that it kept', () => {
    const scan = scanFile(inFolder('pi-v1-before-compaction.jsonl'))
    expect(scan.format).toBe('pi')
    expect(scan.epochs.map((epoch) => epoch.openedBy?.tokensBefore)).toEqual([undefined, 175004, 185014])
    expect(scan.epochs.map((epoch) => epoch.openedBy?.kept)).toEqual([undefined, 359 - 293, 628 - 551])
    const live = openLive(inFolder('pi-v1-before-compaction.jsonl'))
    expect(live.stop).toBe('boundary')
    // 194 calls and 192 results between the kept part and the end, because two calls were interrupted.
    expect(tallyOf(live.entries)).toMatchObject({ toolUses: 194, toolResults: 192, unpaired: 2 })
  })

  test('the Codex rollout has its compaction, and the new history comes right after it', () => {
    const scan = scanFile(inFolder('codex-0.118-1compacted.jsonl'))
    expect(scan.format).toBe('codex')
    expect(scan.boundaries.length).toBe(1)
    const live = openLive(inFolder('codex-0.118-1compacted.jsonl'))
    expect(live.entries.length).toBeGreaterThan(29)
    let calls = 0
    forEachEntry(inFolder('codex-0.118-1compacted.jsonl'), ({ record }) => {
      if (JSON.stringify(record.message ?? '').includes('"type":"tool_use"')) calls++
    })
    expect(calls).toBe(217)
  })

  test('sub-agents are found inside the file, beside it and in its folder', () => {
    const inside = findSubagents(inFolder('13-v1.0.98-infile-sidechains.jsonl')).agents
    expect(inside.map((agent) => [agent.place, agent.toolUseId !== undefined])).toEqual(Array(5).fill(['inside', true]))
    expect(inside.reduce((sum, agent) => sum + agent.entries, 0)).toBe(405)

    const beside = findSubagents(
      inFolder('14-v2.0.37-flat-agent-files/cb2e607c-c758-415a-8b45-c49e4631906a.jsonl'),
    ).agents
    expect(beside.map((agent) => [agent.place, agent.id, agent.entries])).toEqual([['beside', 'ea02459f', 33]])

    const folder = findSubagents(
      inFolder('12-v2.1.39-compact-subagents/fa812bfe-b295-4cca-9c2f-fdf01028cb46.jsonl'),
    ).agents
    expect(folder.map((agent) => [agent.place, agent.id, agent.kind])).toEqual([
      ['folder', 'a93ccab', 'agent'],
      ['folder', 'aa84377', 'agent'],
      ['folder', 'acompact-70d8e7', 'compaction'],
    ])
  })
})
