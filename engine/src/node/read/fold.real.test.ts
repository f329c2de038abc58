import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkRequest } from '../../core/request/check-request.ts'
import { repairRequest } from '../../core/request/repair.ts'
import { contextSize } from '../../core/tokens/context-size.ts'
import { type Edit, editRecord } from '../../core/transcript/format/edits.ts'
import { createFold } from '../../core/transcript/view/fold.ts'
import { hasTranscripts, transcripts } from '../testing/real-data.ts'
import { forEachEntry } from './entries.ts'

const files = hasTranscripts
  ? readdirSync(transcripts, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .toSorted()
  : []

const foldFile = (name: string) => {
  const fold = createFold()
  forEachEntry(join(transcripts, name), (entry) => fold.add(entry))
  return fold
}

const edited = (fold: ReturnType<typeof foldFile>, edit: Edit, uuid: string) => {
  const at = { uuid, parentUuid: null, timestamp: '2026-11-01T00:00:00.000Z', sessionId: 's' }
  const position = { line: 0, offset: 0, length: 0, nth: 0 }
  // Has no parent, so the newest message stays the newest.
  fold.add({ record: editRecord(edit, at), position })
  return fold.view()
}

describe.skipIf(!hasTranscripts)('real transcripts, folded (skipped where the folder is not there)', () => {
  test('there are some', () => {
    expect(files.length).toBeGreaterThan(0)
  })

  test.each(files)('%s is a valid request when repaired, and its size is one a window can hold', (name) => {
    const view = foldFile(name).view()
    if (view.messages.length === 0) return
    const { messages } = repairRequest(view.messages)
    expect(checkRequest(messages)).toEqual([])
    const { tokens } = contextSize(view.messages, { trusted: view.trusted })
    expect(tokens).toBeGreaterThan(0)
    expect(tokens).toBeLessThan(1_000_000)
    expect(view.messages.length).toBe(view.sources.length)
  })

  test.each(files)('%s edited is valid, smaller, and the very same bytes when undone', (name) => {
    const fold = foldFile(name)
    const before = fold.view()
    const bytes = JSON.stringify(before.messages)
    const toolUseIds = before.messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])),
    )
    const uuids = before.sources.flatMap((source) => source.uuids)
    const from = uuids[Math.floor(uuids.length / 3)]
    const to = uuids[Math.floor(uuids.length / 2)]
    if (from === undefined || to === undefined) return
    const changes: readonly Edit[] = [
      { type: 'clear-results', toolUseIds },
      { type: 'clear-inputs', toolUseIds },
      { type: 'replace-range', from, to, text: 'what happened' },
      { type: 'clear-thinking' },
    ]
    for (const [at, change] of changes.entries()) {
      const view = edited(fold, change, `edit-${at}`)
      const { messages } = repairRequest(view.messages, { thinking: 'strip-changed', changed: view.changed })
      expect(checkRequest(messages)).toEqual([])
    }
    expect(JSON.stringify(fold.view().messages).length).toBeLessThanOrEqual(bytes.length)
    for (const [at] of changes.entries()) edited(fold, { type: 'undo', uuid: `edit-${at}` }, `undo-${at}`)
    expect(JSON.stringify(fold.view().messages)).toBe(bytes)
  })
})
