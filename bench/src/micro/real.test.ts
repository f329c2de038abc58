import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { transcriptFolder } from '../root.ts'
import { measureFile, ways } from './measure.ts'
import { transcriptsIn } from './run.ts'

const folder = transcriptFolder()
const files = folder === undefined ? [] : transcriptsIn(folder)

describe.skipIf(folder === undefined)('real transcripts (skipped where the folder is not there)', () => {
  test.each(files)('%s: every mechanism runs, the API takes what comes out, undone all is as it was', async (name) => {
    const measured = await measureFile(join(folder ?? '', name))
    if (!measured) return
    expect([measured.status, measured.error]).toEqual([200, undefined])
    const wrong = measured.outcomes.filter(({ status, isUndone }) => status !== 200 || !isUndone)
    expect(wrong).toEqual([])
    expect(measured.outcomes.map(({ way }) => way)).toEqual(ways.map(({ name: way }) => way))
    for (const { type, promised, measured: gone } of measured.outcomes) {
      if (type === 'edits') expect(gone).toBeGreaterThan(0)
      expect(promised).toBeGreaterThanOrEqual(0)
    }
  })
})
