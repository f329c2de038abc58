// Every compaction that real sessions recorded, made again: without a model and with what was recorded. Skipped where the
// folder is not there.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { countTokens } from 'everlong'
import { createFold, modelFacts, readBoundary } from 'everlong/internal'
import { forEachEntry } from 'everlong/internal/node'
import { expect, test } from 'vitest'
import { report, root } from '../testing/harness.ts'
import type { CompactReport } from './compact/report.ts'

const folder = join(process.env.EVERLONG_DATA ?? join(root, '../shared/data'), 'transcripts')
const files = existsSync(folder)
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  : []

type Recorded = {
  readonly name: string
  readonly uuid: string
  /** Tokens that the compaction left in the context until the next answer, by our counter. */
  readonly tokens: number
  readonly hasSummary: boolean
}

function recordedIn(name: string): readonly Recorded[] {
  const found: Recorded[] = []
  const fold = createFold()
  let open: { readonly uuid: string; readonly line: number; hasSummary: boolean } | undefined
  let model: string | undefined
  const close = () => {
    if (!open) return
    const tokens = countTokens(fold.view().messages, model === undefined ? {} : { model })
    found.push({ name, uuid: open.uuid, tokens, hasSummary: open.hasSummary })
    open = undefined
  }
  forEachEntry(join(folder, name), (entry) => {
    const { record, position } = entry
    const { message } = record as { readonly message?: { readonly model?: string } }
    const isAnswer = record.type === 'assistant' && position.line !== open?.line
    const boundary = record.isSidechain === true ? undefined : readBoundary(record)
    if (record.isSidechain !== true && (isAnswer || boundary)) close()
    if (record.type === 'assistant' && message?.model && modelFacts(message.model)) model = message.model
    if (boundary && typeof record.uuid === 'string')
      open = { uuid: record.uuid, line: position.line, hasSummary: false }
    if (record.isCompactSummary === true && open) open.hasSummary = true
    fold.add(entry)
  })
  close()
  return found
}

const recorded = files.flatMap(recordedIn)

test.skipIf(recorded.length === 0).for(recorded)('$name $uuid', async ({ name, uuid, tokens, hasSummary }) => {
  const compact = (...words: readonly string[]) =>
    report<CompactReport>('compact', join(folder, name), '--before', uuid, ...words)
  for (const model of ['offline', ...(hasSummary ? ['recorded'] : [])]) {
    const made = await compact('--model', model, '--budget', String(tokens))
    expect(made.tokens.after).toBeLessThanOrEqual(tokens)
    expect(made.tokens.after).toBeLessThan(made.tokens.before)
    expect(countTokens(made.messages)).toBeLessThanOrEqual(tokens)
    if (model === 'recorded') expect(made.tried).toMatchObject([{ mechanism: 'direct', outcome: 'done' }])
  }
})

test.skipIf(files.length === 0)('there are recorded compactions to make again', () => {
  expect(recorded.length).toBeGreaterThan(0)
})
