// A session that a new process continues has the same size as in the old process, for any earlier reports of models.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { ModelRequest } from './core/ports/model.ts'
import type { Session } from './core/session/session-api.ts'
import { answerOf, scripted } from './core/session/testing/world.ts'
import { countTokens } from './core/tokens/estimate/counting.ts'
import { createEngine } from './node-engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-reopened-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const models = ['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-opus-5'] as const
type Model = (typeof models)[number]
/** Reported tokens per estimated token, by model. */
type Reports = Readonly<Record<Model, number>>

const text = (tokens: number, seed: number) =>
  `${seed} `.concat('the branch parses orders '.repeat(Math.ceil(tokens / 5)))

/** Reports usage like a server whose model has another tokenizer. */
const reporting = (reports: Reports) =>
  scripted(({ model, messages }: ModelRequest) => {
    const input = Math.round(countTokens(messages, { model }) * reports[model as Model])
    const usage = { input, output: 20, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
    return answerOf('Done, and the branch is merged.', { usage })
  })

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('turn' as const), tokens: fc.integer({ min: 10, max: 8_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('model' as const), model: fc.constantFrom(...models) }) },
  { weight: 1, arbitrary: fc.constant({ type: 'compact' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'rewind' as const }) },
  { weight: 2, arbitrary: fc.constant({ type: 'reopen' as const }) },
)

const factor = fc.double({ min: 0.6, max: 1.7, noNaN: true })
const reported = fc.record({ 'claude-opus-4-6': factor, 'claude-sonnet-4-6': factor, 'claude-opus-5': factor })
let files = 0

test('the size of a session is the same after a new process has opened it', async () => {
  const property = fc.asyncProperty(
    reported,
    fc.array(step, { minLength: 4, maxLength: 14 }),
    async (reports, steps) => {
      const client = reporting(reports)
      const settings = { contextWindow: 60_000, sessionMemory: false, summary: { offline: 'always' } } as const
      const engine = () => createEngine({ model: client, settings, environment: {} })
      const path = join(folder, `${files++}.jsonl`)
      let model: Model = models[0]
      let session: Session = await engine().start({ path, model })
      let asked: readonly string[] = []
      const reopen = async () => {
        const { size } = session.explain()
        await session.close()
        session = await engine().open(path, { model })
        expect(session.explain().size).toEqual(size)
      }
      for (const [at, one] of [...steps, { type: 'reopen' as const }].entries()) {
        if (one.type === 'turn') {
          asked = session.add({ role: 'user', content: text(one.tokens, at) })
          await session.send()
        } else if (one.type === 'model') {
          model = one.model
          await session.useModel({ client, name: model })
        } else if (one.type === 'compact') await session.compact()
        else if (one.type === 'rewind' && asked[0]) await session.rewind(asked[0])
        else if (one.type === 'reopen') await reopen()
      }
      await session.close()
    },
  )
  await fc.assert(property, { numRuns: 40 })
})

test('a session that is opened from its newest compaction still counts with what it learned before', async () => {
  const reports = { 'claude-opus-4-6': 0.6, 'claude-sonnet-4-6': 1, 'claude-opus-5': 1 }
  const settings = { contextWindow: 200_000, sessionMemory: false, summary: { offline: 'always' } } as const
  const engine = () => createEngine({ model: reporting(reports), settings, environment: {} })
  const path = join(folder, 'long.jsonl')
  const model = models[0]
  const running = await engine().start({ path, model })
  for (const tokens of [3_000, 3_000, 3_000, 3_000, 10, 10]) {
    running.add({ role: 'user', content: text(tokens, 0) })
    await running.send()
  }
  // A file is read back to a compaction or two. These turns are too small for calibration.
  for (let epoch = 0; epoch < 4; epoch++) {
    for (let turn = 0; turn < 200; turn++) {
      running.add({ role: 'user', content: text(500, turn) })
      running.record(answerOf('Done.', { id: `later_${epoch}_${turn}` }))
    }
    expect(await running.compact()).toMatchObject({ type: 'compacted' })
  }
  running.add({ role: 'user', content: text(3_000, 9) })
  await running.prepare()
  const { size } = running.explain()
  await running.close()
  const opened = await engine().open(path, { model })
  expect(opened.explain().size).toEqual(size)
  await opened.close()
})
