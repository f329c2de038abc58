// A large request without an answer survives a compaction whole, if it fits at all.
import { expect, test } from 'vitest'
import { textOf } from '../message/message.ts'
import { noTokens } from '../message/usage.ts'
import type { EngineSettings } from '../settings/table.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted } from './testing/world.ts'

const settings: EngineSettings = { contextWindow: 30_000, maxOutputTokens: 4_000, reductions: { microCompact: false } }
const paste = (name: string, lines: number) =>
  Array.from({ length: lines }, (_, at) => `${name} ${at}: the quick brown fox jumps over the lazy dog`).join('\n')

async function compacted(request: string, more: EngineSettings = {}) {
  const model = scripted(() => answerOf('<summary>\n1. Primary request and intent:\n- Read the pastes.\n</summary>'))
  const { session } = createTestWorld({ model, compaction: [summarizing()], settings: { ...settings, ...more } })
  session.add({ role: 'user', content: paste('first', 300) })
  session.record(answerOf('Read.', { id: 'msg_1', usage: { ...noTokens, input: 5_000 } }))
  session.add({ role: 'user', content: paste('second', 900) })
  session.record(answerOf('Read too.', { id: 'msg_2', usage: { ...noTokens, input: 16_000 } }))
  session.add({ role: 'user', content: request })
  const prepared = await session.prepare()
  return {
    session,
    prepared,
    text: session
      .messages()
      .map(({ content }) => textOf(content))
      .join('\n'),
  }
}

test('a request larger than what a compaction may leave is whole, and the context is below the threshold', async () => {
  const request = `${paste('third', 650)}\nNever use semicolons.`
  const { session, prepared, text } = await compacted(request)
  expect(prepared).toMatchObject({ type: 'ready', compaction: { type: 'compacted' } })
  expect(text.split(request)).toHaveLength(2)
  const { size, autoCompactThreshold } = session.explain()
  expect(size.tokens).toBeLessThan(autoCompactThreshold.value)
})

test('one that does not fit below the threshold keeps its beginning and its end', async () => {
  const request = `${paste('third', 1_600)}\nNever use semicolons.`
  const { session, text } = await compacted(request)
  expect([text.includes(request), text.includes('third 0:'), text.includes('Never use semicolons.')]).toEqual([
    false,
    true,
    true,
  ])
  const { size, autoCompactThreshold } = session.explain()
  expect(size.tokens).toBeLessThan(autoCompactThreshold.value)
})
