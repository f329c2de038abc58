// A compaction in a worker thread has the same result as on the main thread, for any session.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { ModelClient } from '../../core/ports/model.ts'
import { noCapabilities } from '../../core/ports/model.ts'
import { offline } from '../../models/offline.ts'
import { createEngine, type EngineOptions } from '../../node-engine.ts'
import { serialize } from '../../testing/records.ts'
import { keptLayouts } from '../../testing/sessions/options.ts'
import { generateSession } from '../../testing/sessions/session.ts'
import { clientStyles } from '../../testing/sessions/style.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-worker-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const summary = `<summary>
1. Primary request and intent:
- The user asked: "never touch the \ud83d\ude00 tests", and the user approved deleting the table orders.
6. All user messages:
- User: "make it faster please, really"
9. Next step:
- Read src/nowhere/lost.ts and runTheThing(); commit 1234abc.
</summary>`

const writing: ModelClient = {
  provider: 'scripted',
  model: 'claude-opus-4-5',
  capabilities: () => noCapabilities,
  send: async () => ({
    type: 'answer',
    id: 'summary',
    model: 'claude-opus-4-5',
    content: [{ type: 'text', text: summary }],
    stopReason: 'end_turn',
    usage: { input: 100, output: 50, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 },
  }),
}

const anySession = fc.record({
  seed: fc.nat(1e6),
  style: fc.constantFrom(...clientStyles),
  turns: fc.integer({ min: 2, max: 25 }),
  boundaries: fc.constantFrom(0, 1, 2),
  kept: fc.constantFrom(...keptLayouts),
  images: fc.boolean(),
  microcompact: fc.boolean(),
})

const anyHost = fc.record({
  model: fc.constantFrom<ModelClient>(offline(), writing),
  functions: fc.constantFrom<Partial<EngineOptions>>(
    {},
    { tokenizer: (text) => Math.ceil(text.length / 3) },
    { redact: (text) => text.replaceAll('e', '3') },
    { retain: ({ origin }) => origin === 'human', summaryPrompt: 'Be brief.' },
  ),
  settings: fc.constantFrom<EngineOptions['settings']>({}, { contextWindow: 8_000 }, { recall: true, keep: 4 }),
  instructions: fc.constantFrom(undefined, 'Keep the schema.'),
})

test('the records of a compaction are the same to the byte', async () => {
  let compacted = 0
  const property = fc.asyncProperty(
    anySession,
    anyHost,
    async (options, { model, functions, settings, instructions }) => {
      const path = join(folder, 'generated.jsonl')
      writeFileSync(path, [...generateSession(options)].map(serialize).join(''))
      const outcomes = []
      for (const worker of [false, true]) {
        let ids = 0
        const failed: unknown[] = []
        const engine = createEngine({
          model,
          ...functions,
          ...(settings ? { settings } : {}),
          environment: {},
          worker,
          ports: { now: () => Date.UTC(2026, 8, 1) + ids, newId: () => `id-${++ids}` },
          onEvent: (event) => event.type === 'worker-failed' && failed.push(event),
        })
        const copy = join(folder, 'copy.jsonl')
        copyFileSync(path, copy)
        const session = await engine.open(copy)
        session.add({ role: 'user', content: 'And now?' })
        const outcome = await session.compact(instructions === undefined ? {} : { instructions })
        await session.close()
        if (outcome.type === 'compacted') compacted++
        outcomes.push(JSON.stringify([outcome, failed]))
      }
      expect(outcomes[1]).toBe(outcomes[0])
    },
  )
  await fc.assert(property, { numRuns: 40 })
  expect(compacted).toBeGreaterThan(20)
}, 120_000)
