// Compaction on the provider's side, asked for through the engine's own client for the Messages API.
import type { Block, ModelRequest } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { describe, expect, test } from 'vitest'
import type { Script } from '../script/script.ts'
import { createSimulator } from '../simulator.ts'
import { summarizer } from '../summary/summarizer.ts'
import { brokenBy, conversation, done, ownRequest } from '../testing/compaction.ts'

const name = 'claude-opus-5'
const asked: Script = summarizer({ lastTextAsks: true })

function world(script = asked) {
  const simulator = createSimulator({ script: summarizer(), summarizer: script, acceptForeignSignatures: true })
  const client = anthropic({ model: name, apiKey: 'key', fetch: simulator.fetch })
  return { simulator, client }
}

const own = (table: ReturnType<typeof conversation>) =>
  ownRequest(table.view(), { model: name, options: { tool_choice: { type: 'auto' }, stop_sequences: ['END'] } })

describe('on demand', () => {
  const settings = { serverCompaction: 'on-demand' } as const

  test('the provider summarizes its own conversation, and what it wrote is checked like any other summary', async () => {
    const table = conversation(51, { targetBytes: 120_000 })
    const { client, simulator } = world()
    const result = done(await table.compact(client, { conversation: own(table), settings, counting: { model: name } }))
    expect(result.mechanism).toBe('server-compaction')
    expect(brokenBy(table, result)).toEqual([])
    expect(result.usage.input + result.usage.cacheRead + result.usage.cacheWrite).toBeGreaterThan(5_000)
    expect(simulator.log.entries.map(({ status, outcome }) => [status, outcome])).toEqual([[200, 'compaction']])
    expect(result.fidelity.humanMessages.total).toBeGreaterThan(0)
  })

  test('a model that calls a tool instead has written nothing: the next way is tried', async () => {
    const table = conversation(51, { targetBytes: 120_000 })
    const { client } = world(() => ({ content: [{ type: 'tool_use', name: 'Read', input: {} }] }))
    const result = done(await table.compact(client, { conversation: own(table), settings, counting: { model: name } }))
    expect(result.tried.map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)).toEqual([
      'server-compaction failed',
      'cache-sharing done',
    ])
  })

  test('it is off unless it is wanted', async () => {
    const table = conversation(51, { targetBytes: 120_000 })
    const { client } = world()
    const result = done(await table.compact(client, { conversation: own(table), counting: { model: name } }))
    expect(result.tried.map(({ mechanism }) => mechanism)).toEqual(['cache-sharing'])
  })
})

test('by threshold: the request carries the edit, and the conversation continues from the block in the answer', async () => {
  const table = conversation(52, { targetBytes: 900_000 })
  const view = table.view()
  const edit = { type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 } }
  const betas = ['context-management-2025-06-27', 'compact-2026-01-12']
  const { client: model } = world()
  const base = ownRequest(view, { model: name, betas })
  const messages = base.messages.at(-1)?.role === 'user' ? base.messages : [...base.messages, say('Go on.')]
  const request: ModelRequest = { ...base, messages, options: { context_management: { edits: [edit] } } }
  const answer = await model.send(request)
  if (answer.type === 'failed') throw new Error(answer.message)
  expect(answer.content[0]).toMatchObject({ type: 'compaction' })
  const next = await model.send({
    ...request,
    messages: [...messages, { role: 'assistant', content: answer.content as readonly Block[] }, say('And on.')],
  })
  if (next.type === 'failed') throw new Error(next.message)
  expect(next.usage.input + next.usage.cacheRead + next.usage.cacheWrite).toBeLessThan(20_000)
})

function say(text: string) {
  return { role: 'user', content: [{ type: 'text', text }] } as const
}
