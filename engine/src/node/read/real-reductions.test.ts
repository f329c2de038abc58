import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { reductions } from '../../core/mechanisms/lists.ts'
import { type SituationInput, situationOf } from '../../core/mechanisms/situation.ts'
import { runContract } from '../../core/mechanisms/testing/contract.ts'
import type { JsonObject } from '../../core/message/json.ts'
import { hasTranscripts, transcripts } from '../testing/real-data.ts'
import { forEachEntry } from './entries.ts'

const files = hasTranscripts ? readdirSync(transcripts).filter((name) => name.endsWith('.jsonl')) : []
const input: SituationInput = {
  now: Date.parse('2027-01-01T00:00:00.000Z'),
  client: { cacheEdits: true, contextManagement: true },
  reductions: { microCompact: 'always', bySize: { target: 2_000, minFreed: 1_000 } },
}

describe.skipIf(!hasTranscripts)('real transcripts (skipped where the folder is not there)', () => {
  test.each(files)('every mechanism keeps its contract on %s', (file) => {
    const records: JsonObject[] = []
    forEachEntry(join(transcripts, file), ({ record }) => records.push(record))
    for (const mechanism of reductions) {
      const report = runContract({ mechanism, records, situationOf: (view) => situationOf(view, input) })
      expect({ mechanism: mechanism.name, broken: report.broken }).toEqual({ mechanism: mechanism.name, broken: [] })
    }
  })
})
