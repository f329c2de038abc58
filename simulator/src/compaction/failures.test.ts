import type { EngineEvent } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import { noOutcome } from 'everlong/internal/compaction'
import { describe, expect, test } from 'vitest'
import { misbehavesThen, misbehaving, misbehaviors } from '../script/misbehaving.ts'
import { createSimulator } from '../simulator.ts'
import { summarizer } from '../summary/summarizer.ts'
import { failed, simulatedClient } from '../testing/client.ts'
import { brokenBy, conversation, done, ownRequest } from '../testing/compaction.ts'

const small = { targetBytes: 60_000 }

function world(script = summarizer(), options: Parameters<typeof simulatedClient>[1] = {}) {
  return simulatedClient(createSimulator({ script, acceptForeignSignatures: true }), options)
}

/** Mechanism, outcome, reason: what a person is told was tried. */
const trail = (tried: readonly { mechanism: string; outcome: string; reason?: string }[]) =>
  tried.map(({ mechanism, outcome, reason = '' }) => `${mechanism} ${outcome} ${reason}`.trim())

describe('a summarizer that misbehaves', () => {
  // langchain: an error text became the summary; pi, codex: an empty one did; OpenHands forgot the events all the same.
  const reasons: Readonly<Record<string, string>> = {
    'error-text': 'api-error',
    'longer-than-source': 'no-progress',
  }
  for (const kind of misbehaviors.filter((kind) => kind !== 'no-tags')) {
    test(`${kind}: neither of its answers is taken, and the summary is made without it`, async () => {
      const table = conversation(3, small)
      const result = done(await table.compact(world(misbehaving(kind)), { conversation: ownRequest(table.view()) }))
      const reason = reasons[kind] ?? 'no-summary'
      expect(trail(result.tried)).toEqual([`cache-sharing failed ${reason}`, `direct failed ${reason}`, 'offline done'])
      expect(brokenBy(table, result)).toEqual([])
    })

    test(`${kind}: where no summary may be made without a model nothing is changed, and the reason is told`, async () => {
      const table = conversation(3, small)
      const before = JSON.stringify(table.view())
      const result = await table.compact(world(misbehaving(kind)), { settings: { offline: 'never' } })
      expect(result).toMatchObject({ type: 'failed', reason: reasons[kind] ?? 'no-summary' })
      expect(JSON.stringify(table.view())).toBe(before)
      expect(table.events.at(-1)).toMatchObject({ type: 'compaction-failed', reason: reasons[kind] ?? 'no-summary' })
    })
  }

  test('no-tags: an answer without tags is taken whole', async () => {
    const table = conversation(3, small)
    const result = done(await table.compact(world(misbehaving('no-tags'))))
    expect(trail(result.tried)).toEqual(['direct done'])
    expect(brokenBy(table, result)).toEqual([])
  })

  test('once: the direct request comes after the one that shares the cache', async () => {
    const table = conversation(3, small)
    const model = world(misbehavesThen('calls-tools', 1, summarizer()))
    const result = done(await table.compact(model, { conversation: ownRequest(table.view()) }))
    expect(trail(result.tried)).toEqual(['cache-sharing failed no-summary', 'direct done'])
  })
})

describe('a service that fails', () => {
  test('a broken stream is retried twice in the direct request, never in the one that shares the cache', async () => {
    const table = conversation(3, small)
    const model = world(summarizer(), {
      instead: (_, number) => (number <= 3 ? failed('transient', 'the stream broke off') : undefined),
    })
    const result = done(await table.compact(model, { conversation: ownRequest(table.view()) }))
    expect(trail(result.tried)).toEqual(['cache-sharing failed api-error', 'direct done'])
    expect(model.requests).toHaveLength(4)
  })

  test('a client that has tried three times itself is not asked again', async () => {
    const table = conversation(3, small)
    const model = world(summarizer(), { instead: () => ({ ...failed('transient', 'overloaded'), tries: 3 }) })
    const result = done(await table.compact(model))
    expect(trail(result.tried)).toEqual(['direct failed api-error', 'offline done'])
    expect(model.requests).toHaveLength(1)
  })

  test('what a hook says comes after what the person said, and empty words count as none', async () => {
    const table = conversation(3, small)
    const model = world()
    const hooks = { run: async () => ({ ...noOutcome, instructions: ['', 'name the ticket'] }) }
    done(await table.compact(model, { hooks, instructions: 'keep the schema' }))
    const words = JSON.stringify(model.requests[0]?.messages.at(-1)?.content)
    expect(words).toContain('keep the schema\\n\\nname the ticket')
  })

  test('a veto ends it before anybody is asked', async () => {
    const table = conversation(3, small)
    const before = JSON.stringify(table.view())
    const model = world()
    const hooks = { run: async () => ({ ...noOutcome, veto: 'not during the release' }) }
    expect(await table.compact(model, { hooks })).toMatchObject({
      type: 'failed',
      reason: 'vetoed',
      why: 'not during the release',
    })
    expect([model.requests.length, JSON.stringify(table.view())]).toEqual([0, before])
  })

  test('a write that fails leaves everything as it was', async () => {
    const table = conversation(3, small)
    const before = JSON.stringify(table.view())
    const failure = { type: 'failed', reason: 'write-failed', why: 'no space left', tried: [] } as const
    expect(await table.compact(world(), { write: async () => failure })).toMatchObject({ ...failure, tried: [{}] })
    expect(JSON.stringify(table.view())).toBe(before)
  })
})

describe('stopped', () => {
  const phases = ['hooks-before', 'summarizing', 'verifying', 'restoring', 'committing'] as const
  for (const phase of phases) {
    test(`while ${phase}: nothing is written and the conversation is the same bytes`, async () => {
      const table = conversation(3, small)
      const before = JSON.stringify(table.view())
      const controller = new AbortController()
      let isWritten = false
      const result = await table.compact(world(), {
        signal: controller.signal,
        onEvent: (event) => {
          if (event.type === 'compaction-progressed' && event.phase === phase) controller.abort()
        },
        write: async (compaction) => {
          isWritten = true
          return compaction
        },
      })
      expect(result).toMatchObject({ type: 'failed', reason: 'aborted' })
      expect([isWritten, JSON.stringify(table.view())]).toEqual([false, before])
      expect(table.events.at(-1)).toMatchObject({ type: 'compaction-failed', reason: 'aborted' })
    })
  }

  test('in the middle of a request', async () => {
    const table = conversation(3, small)
    const controller = new AbortController()
    const model = world(summarizer(), {
      instead: async () => {
        controller.abort()
        return undefined
      },
    })
    const { signal } = controller
    expect(await table.compact(model, { signal })).toMatchObject({ type: 'failed', reason: 'aborted' })
  })
})

test('every phase is told in order, and a sign of life every half minute while the summary runs', async () => {
  const table = conversation(3, small)
  const told: EngineEvent[] = []
  let beats = 0
  const waited: number[] = []
  const model = world(summarizer(), {
    instead: async () => {
      while (beats < 3) await new Promise((resolve) => setTimeout(resolve, 1))
      return undefined
    },
  })
  const result = done(
    await table.compact(model, {
      onEvent: (event) => {
        if (event.type === 'compaction-progressed' && event.keepAlive) beats++
        else told.push(event)
      },
      wait: async (milliseconds) => {
        waited.push(milliseconds)
        await new Promise((resolve) => setTimeout(resolve, 1))
      },
    }),
  )
  expect(new Set(waited)).toEqual(new Set([30_000]))
  const phases = told.map((event) => (event.type === 'compaction-progressed' ? event.phase : event.type))
  expect(phases.filter((phase, index) => phase !== phases[index - 1])).toEqual([
    'compaction-started',
    'hooks-before',
    'summarizing',
    'mechanism-tried',
    'verifying',
    'restoring',
    'committing',
    'hooks-after',
    'compaction-finished',
  ])
  expect(told.at(-1)).toEqual({
    type: 'compaction-finished',
    trigger: 'manual',
    mechanism: 'direct',
    tokensBefore: result.before,
    tokensAfter: result.after,
    durationMs: result.durationMs,
    usage: result.usage,
    cost: result.cost,
    chain: result.chain,
    restored: 0,
    attempts: 1,
    tried: ['direct: done'],
  })
})

test('too few messages are left alone', async () => {
  const record = (uuid: string): JsonObject => ({
    type: 'user',
    uuid,
    parentUuid: null,
    message: { role: 'user', content: 'hello' },
  })
  const { bench } = await import('../testing/compaction.ts')
  for (const records of [[], [record('u1')]]) {
    expect(await bench(records).compact(world())).toMatchObject({
      reason: 'nothing-to-compact',
      why: 'Not enough messages to compact.',
    })
  }
})
