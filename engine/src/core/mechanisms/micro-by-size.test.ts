import { describe, expect, test } from 'vitest'
import { type SessionBuilder, session, thinkingBlock, toolUseBlock } from '../../testing/index.ts'
import { noCacheEdits, withDeleted } from '../cache/cache-watch.ts'
import { textOf } from '../message/message.ts'
import { shapeOf } from '../message/shape.ts'
import type { ReductionChoices } from '../settings/resolve.ts'
import type { Settings } from '../settings/table.ts'
import { countTokens } from '../tokens/estimate/counting.ts'
import { editRecord } from '../transcript/format/edits.ts'
import { microBySize } from './micro.ts'
import { type SituationInput, situationOf } from './situation.ts'
import { text, viewOf } from './testing/examples.ts'

const planOf = (built: SessionBuilder, input: Partial<SituationInput> = {}, reductions: ReductionChoices = {}) => {
  const view = viewOf(built.records)
  const settings: ReductionChoices = { microCompact: 'always', ...reductions }
  const situation = situationOf(view, { now: 0, estimator: 'chars/4', reductions: settings, ...input })
  return microBySize.plan(view, situation)
}

/** The results that would be cleared, or the reason why none would. */
const outcomeOf = (...given: Parameters<typeof planOf>) => {
  const plan = planOf(...given)
  return plan.type === 'declined' ? plan.reason : plan.items.map(({ toolUseId, uuids }) => toolUseId ?? uuids[0])
}

/** Shell calls t1, t2, … with results of these sizes. */
const shells = (...tokens: readonly number[]): SessionBuilder => {
  const built = session().user('go')
  for (const [at, size] of tokens.entries()) {
    built.toolUse(`t${at + 1}`, 'Bash', { command: `run ${at}` }).toolResult(`t${at + 1}`, text(size))
  }
  return built
}

describe('micro-compact by size', () => {
  // The figures of the specification: keep 3, target 40,000, at least 20,000.
  test.each<[string, readonly number[], readonly string[] | string]>([
    ['the newest 3 stay, however large', [30_000, 30_000, 30_000], 'nothing-to-do'],
    ['the oldest goes, and no more than must', [30_000, 10_000, 10_000, 10_000, 10_000], ['t1']],
    ['40,000 may remain', [20_000, 10_000, 10_000, 20_000], ['t1']],
    ['one token more and the next goes too', [20_000, 10_000, 10_000, 10_000, 10_001], ['t1', 't2']],
    ['at 40,000 nothing goes', [10_000, 10_000, 10_000, 10_000], 'nothing-to-do'],
    ['19,999 are not worth it', [19_999, 10_000, 10_000, 10_000], 'too-little'],
    ['20,000 are', [20_000, 10_000, 10_000, 10_000], ['t1']],
    ['all but the newest 3 when they alone are too much', [20_000, 5_000, 30_000, 30_000, 30_000], ['t1', 't2']],
    [
      'none is left out for being small, but those smaller than what would replace them',
      [25_000, 2, 9_000, 40_000, 1, 1],
      ['t1', 't3'],
    ],
  ])('%s', (_, sizes, expected) => {
    expect(outcomeOf(shells(...sizes))).toEqual(expected)
  })

  test('an image counts 2,000', () => {
    const built = session().user('go')
    for (let at = 1; at <= 26; at++) {
      const image = { type: 'image', source: { type: 'url', url: `https://example.com/${at}.png` } }
      built.toolUse(`t${at}`, 'Read', { file_path: `${at}.png` }).toolResult(`t${at}`, [image])
    }
    expect(outcomeOf(built, {}, { bySize: { minFreed: 10_000 } })).toEqual(['t1', 't2', 't3', 't4', 't5', 't6'])
  })

  test('runs above the warning threshold only, unless it is told to run always', () => {
    const built = shells(30_000, 30_000, 10_000, 10_000, 10_000)
    const sized = (tokens: number) => ({
      settings: { contextWindow: 200_000 },
      size: { tokens, reported: tokens, estimated: 0, source: 'usage' as const },
    })
    const [below, above] = [sized(146_999), sized(147_000)]
    expect(outcomeOf(built, below, { microCompact: 'above-warning' })).toBe('below-warning')
    expect(outcomeOf(built, above, { microCompact: 'above-warning' })).toEqual(['t1', 't2'])
    expect(outcomeOf(built, above, { microCompact: false })).toBe('turned-off')
  })

  test('keep, target and least are settings; what no answer has seen stays', () => {
    const built = shells(100, 100, 100)
    expect(outcomeOf(built, {}, { bySize: { keep: 1, target: 0, minFreed: 1 } })).toEqual(['t1', 't2'])
    expect(outcomeOf(built, {}, { bySize: { keep: 0, target: 0, minFreed: 1 } })).toEqual(['t1', 't2'])
  })

  test('reads that were read again or changed since go first, whatever their age', () => {
    const built = shells(15_000, 15_000)
      .toolUse('r1', 'Read', { file_path: 'a.ts' })
      .toolResult('r1', text(20_000))
      .toolUse('r2', 'Read', { file_path: 'b.ts' })
      .toolResult('r2', text(10_000))
      .toolUse('r3', 'Read', { file_path: 'a.ts' })
      .toolResult('r3', text(5_000))
      .toolUse('e1', 'Edit', { file_path: './b.ts' })
      .toolResult('e1', 'done')
    const plan = planOf(built)
    const items = plan.type !== 'declined' ? plan.items.map(({ toolUseId, why }) => [toolUseId, why]) : []
    expect(items).toEqual([
      ['r1', 'read again further down'],
      ['r2', 'changed since it was read'],
    ])
  })

  test('a failed edit changes nothing, and “unchanged since” brings nothing again', () => {
    const built = shells(1_000)
      .toolUse('r1', 'Read', { file_path: 'a.ts' })
      .toolResult('r1', text(30_000))
      .toolUse('r2', 'Read', { file_path: 'a.ts' })
      .toolResult('r2', 'File unchanged since last read.')
      .toolUse('e1', 'Edit', { file_path: 'a.ts' })
      .toolResult('e1', 'not found', { isError: true })
    expect(outcomeOf(built)).toBe('nothing-to-do')
  })

  /** Two copies of a memory file, `old` and `new`, with four large results between them. */
  const withMemory = () => {
    const built = session()
      .user('go')
      .attachment('nested_memory', { path: '/p/AGENTS.md', body: text(500) }, { uuid: 'old' })
      .attachment('nested_memory', { path: '/p/other.md', body: text(500) }, { uuid: 'other' })
    for (const id of ['t1', 't2', 't3', 't4']) built.toolUse(id, 'Bash', {}).toolResult(id, text(20_000))
    return built.attachment('nested_memory', { path: '/p/AGENTS.md', body: text(600) }, { uuid: 'new' })
  }

  test('older copies of a memory file go in the same pass', () => {
    const plan = planOf(withMemory())
    expect(plan).toMatchObject({
      type: 'reduced',
      edits: [
        {
          type: 'clear-results',
          toolUseIds: ['t1'],
          attachments: ['old'],
          mechanism: 'micro-by-size',
          reason: 'tool results weigh 80,000 tokens',
        },
      ],
    })
  })

  const pinned = (built: SessionBuilder, uuid: string) => {
    const place = { uuid: 'pin', parentUuid: built.last, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
    return built.raw(editRecord({ type: 'pin', uuid }, place))
  }

  test('what is pinned stays', () => {
    const built = shells(30_000, 30_000, 10_000, 10_000, 10_000)
    const target = viewOf(built.records).messages[2]?.uuid ?? ''
    expect(outcomeOf(pinned(built, target))).toEqual(['t2'])
  })

  test('an older copy of a memory file stays if it is pinned', () => {
    expect(outcomeOf(withMemory())).toEqual(['old', 't1'])
    expect(outcomeOf(pinned(withMemory(), 'old'))).toEqual(['t1'])
  })
})

describe('the gate', () => {
  const built = () => shells(25_000, 30_000, 1_000, 1_000, 1_000)
  const last = viewOf(built().records).messages.findLast(({ role }) => role === 'assistant')?.time ?? 0
  const warm = { now: last + 60_000, cacheLifetime: 300_000, model: 'claude-opus-4-8' }
  const wide = { bySize: { keep: 3, target: 33_000 } }

  test('waits while the cache is warm, there is room, and it does not pay', () => {
    // Clears 25,000 tokens before about 33,000. That breaks even after 15.2 turns.
    const plan = planOf(built(), { ...warm, expectedTurns: 15 }, wide)
    expect(plan).toMatchObject({
      type: 'declined',
      reason: 'does-not-pay',
      worth: { pays: false, turns: 15, freed: 24_973 },
    })
    expect(outcomeOf(built(), { ...warm, expectedTurns: 16 }, wide)).toEqual(['t1'])
  })

  test('does not wait when the cache is cold, or nobody knows', () => {
    const cold = { ...warm, now: last + 300_001, expectedTurns: 1 }
    const unknown = { ...warm, now: last - 1, expectedTurns: 1 }
    expect(outcomeOf(built(), cold, wide)).toEqual(['t1'])
    expect(outcomeOf(built(), unknown, wide)).toEqual(['t1'])
  })

  const sized = (tokens: number) => ({ tokens, reported: tokens, estimated: 0, source: 'usage' as const })
  const at = (
    tokens: number,
    compaction: Settings['compaction'],
    more: { readonly compactionComes?: boolean } = {},
  ) => {
    const settings = { contextWindow: 200_000, compaction }
    return outcomeOf(built(), { ...warm, ...more, expectedTurns: 1, settings, size: sized(tokens) }, wide)
  }

  test('does not wait in danger: nothing compacts by itself, and less than half of the way to the limit is left', () => {
    expect([at(156_999, 'ask'), at(157_000, 'ask')]).toEqual(['does-not-pay', ['t1']])
    expect([at(169_999, 'manual'), at(170_000, 'manual')]).toEqual(['does-not-pay', ['t1']])
  })

  test('waits for a compaction that comes by itself, however near it is', () => {
    expect(at(166_999, 'auto')).toBe('does-not-pay')
  })

  test('does not wait over the threshold where it spares the compaction', () => {
    const over = (targetShare: number) => {
      const settings = { contextWindow: 200_000 }
      const input = { ...warm, expectedTurns: 1, settings, size: sized(168_000), targetShare }
      return outcomeOf(built(), input, wide)
    }
    // Clears 25,000 of 168,000 tokens; the threshold is 167,000.
    expect([over(0.9), over(0.8)]).toEqual([['t1'], 'does-not-pay'])
  })

  test('does not wait for one that the settings allow and that will not come', () => {
    const none = { compactionComes: false }
    expect([at(156_999, 'auto', none), at(157_000, 'auto', none)]).toEqual(['does-not-pay', ['t1']])
  })

  test('waits until carrying the results has cost as much as clearing them will', () => {
    // Each round adds 1,000 tokens. About 4,000 follow the change, and writing them again costs 4,600.
    const grown = (rounds: number, contextWindow = 60_000) => {
      const made = session().user('go')
      for (let at = 1; at <= rounds; at++) {
        const tokens = { cacheRead: 1_000 * at }
        made.assistant([toolUseBlock(`t${at}`, 'Bash')], { tokens }).toolResult(`t${at}`, text(1_000))
      }
      const now = viewOf(made.records).messages.findLast(({ role }) => role === 'assistant')?.time ?? 0
      return planOf(
        made,
        { ...warm, settings: { contextWindow }, now: now + 1_000 },
        { bySize: { keep: 3, target: 0, minFreed: 0 } },
      )
    }
    const dueAfter = (rounds: number) => ({ type: grown(rounds).type, isDue: grown(rounds).worth?.isDue })
    expect(dueAfter(9)).toEqual({ type: 'declined', isDue: false })
    expect(dueAfter(14)).toEqual({ type: 'reduced', isDue: true })
    // A compaction beyond the forecast is no reason to wait.
    expect(grown(14, 1_000_000)).toMatchObject({ type: 'reduced', worth: { deferral: 0 } })
  })

  test('can be turned off', () => {
    expect(outcomeOf(built(), { ...warm, expectedTurns: 1 }, { ...wide, weigh: false })).toEqual(['t1'])
  })
})

describe('on a model that binds its thinking to the prefix', () => {
  const built = () => {
    const made = session().user('go')
    for (const id of ['t1', 't2', 't3', 't4', 't5']) {
      made
        .assistant([thinkingBlock('a'.repeat(400)), toolUseBlock(id, 'Bash')], { model: 'claude-opus-5-5' })
        .toolResult(id, text(20_000))
    }
    return made
  }
  const with_ = (boundThinking: 'delegate' | 'remove' | 'decline', contextManagement: boolean) =>
    planOf(built(), { client: { contextManagement } }, { boundThinking })

  test('thinking after the change is removed, whole, with the results', () => {
    const view = viewOf(built().records)
    expect(with_('remove', true)).toMatchObject({
      thinking: 'removed',
      // The baseline counts thinking in the JSON form in which it is stored.
      freed: 2 * 19_975 + 4 * 115,
      edits: [
        { type: 'clear-results', toolUseIds: ['t1', 't2'] },
        { type: 'clear-thinking', after: view.sources[2]?.uuids.at(-1) },
      ],
    })
  })

  test('or the server is asked, when it can', () => {
    expect(with_('delegate', true)).toMatchObject({
      thinking: 'delegated',
      request: {
        betas: ['context-management-2025-06-27'],
        contextManagement: {
          edits: [
            {
              type: 'clear_tool_uses_20250919',
              trigger: { type: 'tool_uses', value: 3 },
              keep: { type: 'tool_uses', value: 3 },
            },
          ],
        },
      },
    })
    expect(with_('delegate', false)).toMatchObject({ thinking: 'removed' })
    // Results that it already omits are not freed again.
    const asked = (cacheEdits: typeof noCacheEdits) =>
      planOf(built(), { client: { contextManagement: true }, cacheEdits }, { boundThinking: 'delegate' })
    const [all, rest] = [asked(noCacheEdits), asked(withDeleted(noCacheEdits, ['t1']))]
    expect([all, rest].map((plan) => plan.type)).toEqual(['delegated', 'delegated'])
    expect('freed' in rest && 'freed' in all && rest.freed / all.freed).toBeCloseTo(0.5, 1)
  })

  test('a server that clears breaks the cache as well: the gate holds for it too', () => {
    const last = viewOf(built().records).messages.findLast(({ role }) => role === 'assistant')?.time ?? 0
    const client = { contextManagement: true }
    const at = (expectedTurns: number) => planOf(built(), { now: last, client, cacheLifetime: 300_000, expectedTurns })
    expect(at(1)).toMatchObject({ type: 'declined', reason: 'does-not-pay' })
    expect(at(100)).toMatchObject({ type: 'delegated', thinking: 'delegated' })
  })

  test('or it is left alone', () => {
    expect(with_('decline', true)).toMatchObject({ type: 'declined', reason: 'thinking-bound' })
  })
})

test('the request keeps its shape; only the text of the cleared result differs', () => {
  const built = shells(25_000, 20_000, 10_000, 10_000, 10_000)
  const plan = planOf(built, {}, { recall: true })
  const place = { uuid: 'e1', parentUuid: built.last, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
  const edits = plan.type === 'reduced' ? plan.edits : []
  const before = viewOf(built.records)
  const after = viewOf([...built.records, ...edits.map((edit) => editRecord(edit, place))])
  expect(shapeOf(after.messages)).toBe(shapeOf(before.messages))
  const changed = after.messages.flatMap(({ content }, at) =>
    JSON.stringify(content) === JSON.stringify(before.messages[at]?.content) ? [] : [[at, textOf(content)]],
  )
  expect(changed).toEqual([
    [2, `[Old tool result content cleared] Bash(run 0): 1 line, "${'abcd'.repeat(12)}a…". Recall it by its id: t1`],
    [4, `[Old tool result content cleared] Bash(run 1): 1 line, "${'abcd'.repeat(12)}a…". Recall it by its id: t2`],
  ])
})

test('with clearInputs, what a tool was given to write goes with its result, and what another was told stays', () => {
  const built = session().user('go')
  built.toolUse('w1', 'Write', { file_path: '/p/a.ts', content: text(5_000) }).toolResult('w1', text(100))
  built.toolUse('t1', 'Bash', { command: `echo ${text(5_000)}` }).toolResult('t1', text(30_000))
  for (const id of ['t2', 't3', 't4']) built.toolUse(id, 'Bash').toolResult(id, text(20_000))
  const plan = planOf(built, {}, { clearInputs: true })
  if (plan.type !== 'reduced') throw new Error('There is nothing to apply.')
  const { edits } = plan
  expect(edits).toMatchObject([
    { type: 'clear-results', toolUseIds: ['w1', 't1'] },
    { type: 'clear-inputs', toolUseIds: ['w1'] },
  ])
  const tokensOf = (records: SessionBuilder['records']) =>
    countTokens(viewOf(records).messages, { estimator: 'chars/4' })
  const place = { parentUuid: built.last, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
  const after = [...built.records, ...edits.map((edit, at) => editRecord(edit, { ...place, uuid: `e${at}` }))]
  expect(tokensOf(built.records) - tokensOf(after)).toBeCloseTo(plan.freed, -1)
  expect(outcomeOf(built)).toEqual(['w1', 't1'])
  expect(planOf(built)).toMatchObject({ edits: [{ type: 'clear-results' }] })
})
