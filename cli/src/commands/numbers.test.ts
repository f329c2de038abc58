// One function feeds everybody: what the session explains, what its trigger was checked against, what the gauge shows and
// what the command line reads off the file are the same numbers, whatever happened.

import { join } from 'node:path'
import { fullnessOf } from '@everlong/agent/render'
import { type EngineEvent, type EngineSettings, type ModelClient, offline } from 'everlong'
import { createEngine, type Session } from 'everlong/node'
import { afterAll, expect, test } from 'vitest'
import { report, sessionFolder } from '../testing/harness.ts'
import type { ExplainReport } from './context/explain.ts'
import type { MicroReport } from './micro/report.ts'

type Scene = {
  readonly name: string
  readonly settings?: EngineSettings
  readonly act: (session: Session) => Promise<unknown>
}

const words = (count: number) => 'lorem ipsum '.repeat(count)
const usage = (all: number) => ({ input_tokens: 10, cache_read_input_tokens: all - 110, output_tokens: 100 })
let ids = 0
const answer = (session: Session, all: number, content = 'Done.') =>
  session.record({
    id: `msg_${++ids}`,
    model: 'claude-opus-4-5',
    content: [{ type: 'text', text: content }],
    usage: usage(all),
  })
const read = (session: Session, id: string, all: number) => {
  const call = { type: 'tool_use', id, name: 'Read', input: { file_path: `${id}.ts` } }
  session.record({ id: `msg_${++ids}`, model: 'claude-opus-4-5', content: [call], usage: usage(all) })
  session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: words(4_000) }] })
}
const model: ModelClient = { ...offline(), model: 'claude-opus-4-5' }
const small: EngineSettings = { contextWindow: 60_000, maxOutputTokens: 4_000 }

const scenes: readonly Scene[] = [
  { name: 'nothing but a question', act: async (session) => session.prepare() },
  {
    name: 'an answer with usage, and a question after it',
    act: async (session) => {
      answer(session, 12_000)
      session.add({ role: 'user', content: words(300) })
    },
  },
  {
    name: 'results cleared by size',
    settings: { ...small, reductions: { bySize: { minFreed: 1_000, target: 5_000 } } },
    act: async (session) => {
      for (let at = 0; at < 5; at++) read(session, `t${at}`, 5_000 + at * 6_500)
      await session.prepare()
    },
  },
  {
    name: 'a compaction by hand, no answer since',
    act: async (session) => {
      answer(session, 20_000, words(2_000))
      await session.prepare()
      await session.compact()
    },
  },
  {
    name: 'an automatic compaction, and an answer since',
    act: async (session) => {
      answer(session, 44_000, words(2_000))
      session.add({ role: 'user', content: 'Go on.' })
      await session.prepare()
      answer(session, 5_000)
    },
  },
  {
    name: 'turns before and after a compaction',
    act: async (session) => {
      for (let at = 0; at < 6; at++) {
        session.add({ role: 'user', content: words(50) })
        answer(session, 10_000 + at * 7_000, words(2_000))
      }
      session.add({ role: 'user', content: 'Go on.' })
      await session.prepare()
      answer(session, 12_000, words(500))
      session.add({ role: 'user', content: 'And on.' })
      answer(session, 19_000, words(500))
    },
  },
  {
    name: 'a snip',
    act: async (session) => {
      answer(session, 20_000)
      const [uuid = ''] = session.add({ role: 'user', content: words(2_000) })
      answer(session, 26_000)
      await session.prepare()
      await session.snip({ from: uuid, to: uuid })
    },
  },
  {
    name: 'a compaction taken back',
    act: async (session) => {
      answer(session, 20_000, words(2_000))
      await session.prepare()
      await session.compact()
      await session.undo()
    },
  },
  {
    name: 'a limit that an overflow told',
    settings: { maxOutputTokens: 4_000 },
    act: async (session) => {
      answer(session, 30_000, words(2_000))
      session.add({ role: 'user', content: 'Go on.' })
      await session.prepare()
      const overflow = { actual: 61_000, limit: 60_000 }
      await session.recover({ type: 'failed', reason: 'overflow', message: 'prompt is too long', overflow, tries: 1 })
      answer(session, 20_000)
      await session.prepare()
    },
  },
  {
    name: 'a limit that an answer met',
    settings: { maxOutputTokens: 4_000 },
    act: async (session) => {
      answer(session, 40_000, words(2_000))
      session.add({ role: 'user', content: 'Tell all.' })
      await session.prepare()
      session.record({
        id: `msg_${++ids}`,
        model: 'claude-opus-4-5',
        content: [{ type: 'text', text: 'On and on' }],
        stop_reason: 'model_context_window_exceeded',
        usage: usage(50_000),
      })
      session.add({ role: 'user', content: 'Go on.' })
      await session.prepare()
    },
  },
  {
    name: 'another model with another window and tokenizer',
    settings: { maxOutputTokens: 4_000 },
    act: async (session) => {
      answer(session, 20_000, words(2_000))
      await session.useModel({ client: model, name: 'claude-opus-4-6' })
      session.add({ role: 'user', content: 'Go on.' })
      await session.prepare()
    },
  },
  {
    name: 'other thresholds',
    settings: { ...small, autoCompactAt: '50%', warningDistance: 3_000 },
    act: async (session) => {
      answer(session, 19_000)
      await session.prepare()
    },
  },
]

const folder = sessionFolder()
afterAll(folder.remove)

test.each(scenes)('the numbers agree: $name', async ({ settings = small, act }) => {
  const path = join(folder.path, `${++ids}.jsonl`)
  const checked: Extract<EngineEvent, { readonly type: 'threshold-checked' }>[] = []
  const onEvent = (event: EngineEvent) => {
    if (event.type === 'threshold-checked') checked.push(event)
  }
  const engine = createEngine({ model, settings, environment: {}, onEvent })
  const session = await engine.start({ path, system: words(100), tools: [{ name: 'Read', description: words(50) }] })
  session.add({ role: 'user', content: `Mend it. ${words(500)}` })
  await session.prepare()
  await act(session)
  const explained = session.explain()
  const printed = await report<ExplainReport>('explain', path)
  const pick = ({
    size,
    percentLeft,
    state,
    autoCompactThreshold,
    limit,
    warning,
    error,
    blocking,
    contextWindow,
    effectiveWindow,
  }: typeof explained) => ({
    size,
    percentLeft,
    state,
    autoCompactThreshold,
    limit,
    warning,
    error,
    blocking,
    contextWindow,
    effectiveWindow,
  })
  expect(pick(printed)).toEqual(pick(explained))
  expect(fullnessOf(printed)).toEqual(fullnessOf(explained))
  expect(printed.prediction ?? undefined).toEqual(explained.prediction)
  const { size, warning } = await report<MicroReport>('micro', path)
  expect({ size, warning }).toEqual({ size: explained.size, warning: explained.warning.value })
  const bySize = printed.reductions.find(({ mechanism }) => mechanism === 'micro-by-size')?.reason ?? ''
  const told = / below the warning at ([\d,]+)\./.exec(bySize)?.[1]
  if (told !== undefined) expect(Number(told.replaceAll(',', ''))).toBe(explained.warning.value)
  // The trigger looks at the same numbers, before it does anything about them.
  await session.prepare()
  expect(checked.at(-1)).toMatchObject({
    tokens: explained.size.tokens,
    threshold: printed.autoCompactThreshold.value,
    effectiveWindow: printed.effectiveWindow.value,
  })
  await session.close()
})
