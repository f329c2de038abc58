// All of it together: the made-up agent at work against the API, as clients will use it.
import type { JsonObject } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import { agent } from './agent/agent.ts'
import { syntheticRepository } from './repository/repository.ts'
import { toolsOf } from './repository/tools.ts'
import type { Simulator } from './simulator.ts'
import { summarizer } from './summary/summarizer.ts'
import { ask, simulate } from './testing/ask.ts'

const repository = syntheticRepository({ seed: 7, files: 12 })

type Session = {
  readonly body: JsonObject
  readonly headers?: Readonly<Record<string, string>>
  readonly most?: number
}

/** Goes on for as long as the agent calls tools, at most so many turns; every answer must be a 200. */
async function work(simulator: Simulator, { body, headers = {}, most = 100 }: Session): Promise<readonly JsonObject[]> {
  const tools = toolsOf(repository)
  const messages: JsonObject[] = [{ role: 'user', content: 'Find the bug and mend it.' }]
  const answers: JsonObject[] = []
  while (answers.length < most) {
    const told = await ask(simulator, { ...body, tools: tools.definitions, messages }, { headers })
    expect([told.status, told.body.error]).toEqual([200, undefined])
    answers.push(told.body)
    const content = told.body.content as JsonObject[]
    messages.push({ role: 'assistant', content })
    const uses = content.filter(({ type }) => type === 'tool_use')
    if (uses.length === 0) return answers
    const results = uses.map(({ id, name, input }) => {
      const result = tools.run(String(name), input)
      return { type: 'tool_result', tool_use_id: id, content: result.content, is_error: result.isError === true }
    })
    messages.push({ role: 'user', content: results })
  }
  return answers
}

const mark = { cache_control: { type: 'ephemeral' } }

describe('an agent at work', () => {
  const sessions = [
    { name: 'with bound thinking', model: 'claude-fable-5-1', thinking: { type: 'adaptive' } },
    { name: 'with a thinking budget', model: 'claude-sonnet-4-5', thinking: { type: 'enabled', budget_tokens: 1_024 } },
    { name: 'without thinking', model: 'claude-opus-4-8', thinking: undefined },
  ]
  test.each(sessions)('$name reads almost all it sends from the cache', async ({ model, thinking }) => {
    const windows = { 'claude-sonnet-4-5': 1_000_000 }
    const simulator = simulate({ script: agent({ repository, turnsPerTask: 60 }), windows })
    const answers = await work(simulator, {
      body: { model, max_tokens: 4_096, thinking, system: 'You mend bugs.', ...mark },
    })
    expect(answers).toHaveLength(60)
    const { read, write5m, input } = simulator.meter.totals()
    expect(read / (read + write5m + input)).toBeGreaterThan(0.85)
  })

  test('continues over compactions that the server makes', async () => {
    const simulator = simulate({
      script: agent({ repository, turnsPerTask: 400 }),
      summarizer: summarizer({ lastTextAsks: true }),
    })
    const edits = [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 } }]
    const body = { model: 'claude-opus-5', max_tokens: 8_192, context_management: { edits }, ...mark }
    const headers = { 'anthropic-beta': 'compact-2026-01-12' }
    const answers = await work(simulator, { body, headers, most: 150 })
    const samplings = simulator.log.entries.flatMap((entry) => entry.samplings)
    const compactions = samplings.filter(({ type }) => type === 'compaction').length
    expect({ answers: answers.length, compacts: compactions > 0 }).toEqual({ answers: 150, compacts: true })
  })
})
