import { describe, expect, test } from 'vitest'
import { session, textBlock, thinkingBlock } from '../../testing/index.ts'
import { noCacheEdits, withDeleted } from '../cache/cache-watch.ts'
import { completeSettings } from '../settings/resolve.ts'
import { editRecord } from '../transcript/format/edits.ts'
import { microByCacheEdit, pinnedCacheEdits } from './micro.ts'
import { type SituationInput, situationOf } from './situation.ts'
import { text, viewOf } from './testing/examples.ts'

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `t${from + at}`)
const deletions = (from: number, to: number) =>
  ids(from, to).map((id) => ({ type: 'delete', cache_reference: id }) as const)

const viewWith = (results: number) => {
  const built = session().user('go')
  for (const id of ids(1, results)) built.toolUse(id, 'Bash').toolResult(id, text(100))
  return viewOf(built.records)
}

const planOf = (results: number, input: Partial<SituationInput> = {}) => {
  const view = viewWith(results)
  const now = (view.messages.at(-1)?.time ?? 0) + 1
  const client = { cacheEdits: true }
  return microByCacheEdit.plan(view, situationOf(view, { now, estimator: 'chars/4', client, ...input }))
}

describe('micro-compact by cache edit', () => {
  test('with 12 active results all but the newest 5 are deleted, and the messages stay as they are', () => {
    expect(planOf(12)).toMatchObject({
      type: 'delegated',
      freed: 7 * 92,
      thinking: 'untouched',
      worth: { cost: 0 },
      request: { cacheEdits: deletions(1, 7) },
    })
  })

  test.each<[string, number, Partial<SituationInput>, string]>([
    ['11 are not enough', 11, {}, 'nothing-to-do'],
    ['the cache must be warm', 12, { now: 9_999_999_999_999 }, 'cache-not-warm'],
    ['an unknown cache is not warm', 12, { now: 0 }, 'cache-not-warm'],
    ['the client must be able to', 12, { client: {} }, 'client-unable'],
    ['what is deleted is no longer active', 12, { cacheEdits: withDeleted(noCacheEdits, ['t1']) }, 'nothing-to-do'],
  ])('%s', (_, results, input, reason) => {
    expect(planOf(results, input)).toMatchObject({ type: 'declined', reason })
  })

  test.each([{ cacheEdits: true }, { contextManagement: true }])(
    'what is gone already is not freed once more (%j)',
    (client) => {
      const cacheEdits = withDeleted(noCacheEdits, ids(1, 7))
      expect(planOf(19, { cacheEdits, client })).toMatchObject({ type: 'delegated', freed: 7 * 92 })
    },
  )

  describe('where the provider cannot clear in place, and finished turns may go', () => {
    // The defaults. Six results are enough to clear, because `keep` is only about the current turn.
    const reductions = { keepFinished: false, byCacheEdit: { trigger: 6, keep: 8 } } as const
    const sized = (tokens: number) => ({ tokens, reported: tokens, estimated: 0, source: 'usage' }) as const
    const finished = (results: readonly number[], input: Partial<SituationInput> = {}) => {
      const built = session().user('go')
      for (const [at, length] of results.entries()) built.toolUse(`t${at}`, 'Bash').toolResult(`t${at}`, text(length))
      const view = viewOf(built.assistant('done').user('and now?').records)
      const now = (view.messages.at(-1)?.time ?? 0) + 1
      const options = { now, estimator: 'chars/4', client: {}, reductions, size: sized(20_000), ...input } as const
      return microByCacheEdit.plan(view, situationOf(view, options))
    }
    const large = [3_000, 3_000, 3_000, 3_000, 3_000]

    test.each([{}, { contextManagement: true }])(
      'the session clears what the finished turn left, and nothing short (client: %j)',
      (client) => {
        expect(finished([...large, 20, 3_000], { client })).toMatchObject({
          type: 'reduced',
          mechanism: 'micro-by-cache-edit',
          edits: [{ type: 'clear-results', toolUseIds: ['t0', 't1', 't2', 't3', 't4', 't6'] }],
        })
      },
    )

    test('a provider that edits its cache in place is asked', () => {
      expect(finished([...large, 3_000], { client: { cacheEdits: true } })).toMatchObject({
        type: 'delegated',
        request: { cacheEdits: [0, 1, 2, 3, 4, 5].map((at) => ({ cache_reference: `t${at}` })) },
      })
    })

    test('where thinking is bound to the prefix, the provider clears if it can', () => {
      const built = session().user('go')
      for (const id of ids(1, 8)) built.toolUse(id, 'Bash').toolResult(id, text(3_000))
      const view = viewOf(built.assistant([thinkingBlock('Hm.'), textBlock('done')]).user('and now?').records)
      const now = (view.messages.at(-1)?.time ?? 0) + 1
      const planned = (client: NonNullable<SituationInput['client']>) => {
        const known = { now, size: sized(30_000), expectedTurns: 1_000, model: 'claude-opus-5-5' } as const
        return microByCacheEdit.plan(view, situationOf(view, { ...known, client, reductions }))
      }
      expect(planned({ contextManagement: true })).toMatchObject({
        type: 'delegated',
        thinking: 'delegated',
        request: { contextManagement: { edits: [{ keep: { type: 'tool_uses', value: 0 } }] } },
      })
      expect(planned({})).toMatchObject({ type: 'reduced', thinking: 'removed' })
    })

    test('the defaults clear six results of finished turns, and keep the newest eight of the current one', () => {
      const { keepFinished, byCacheEdit } = completeSettings({}).reductions
      expect({ keepFinished, byCacheEdit }).toEqual(reductions)
      expect(finished([...large, 3_000])).toMatchObject({ type: 'reduced' })
      const current = session().user('go')
      for (let at = 0; at < 9; at++) current.toolUse(`c${at}`, 'Bash').toolResult(`c${at}`, text(3_000))
      const view = viewOf(current.assistant('so far').records)
      const now = (view.messages.at(-1)?.time ?? 0) + 1
      const free = { ...reductions, weigh: false }
      const plan = microByCacheEdit.plan(
        view,
        situationOf(view, { now, estimator: 'chars/4', client: {}, reductions: free }),
      )
      expect(plan).toMatchObject({ edits: [{ toolUseIds: ['c0'] }] })
    })

    describe('results wait until enough of them can go', () => {
      const turns = { expectedTurns: 1_000 }
      /** Six results that free `tokens`. */
      const freeing = (tokens: number, input: Partial<SituationInput> = {}) => {
        const six = (last: number) => [300, 300, 300, 300, 300, last]
        const freed = (last: number) => {
          const plan = finished(six(last), { ...turns, reductions: { ...reductions, weigh: false } })
          return plan.type === 'declined' ? 0 : plan.freed
        }
        let last = 60
        while (freed(last) < tokens) last++
        expect(freed(last)).toBe(tokens)
        return finished(six(last), { ...turns, ...input })
      }

      test.each<[string, number, Partial<SituationInput>]>([
        ['2,000 tokens', 2_000, {}],
        ['also in a large window', 2_000, { settings: { contextWindow: 1_000_000 } }],
        ['1 % of a smaller one', 1_500, { size: sized(15_000), settings: { contextWindow: 150_000 } }],
        ['anything if nothing is weighed', 1_999, { reductions: { ...reductions, weigh: false } }],
        [
          'anything if the window is nearly full and no compaction comes',
          1_999,
          { settings: { contextWindow: 200_000 }, size: sized(190_000), compactionComes: false },
        ],
      ])('%s', (_, freed, input) => {
        expect(freeing(freed, input)).toMatchObject({ type: 'reduced', freed })
      })

      test.each<[string, number, Partial<SituationInput>]>([
        ['less than 2,000 tokens', 1_999, {}],
        ['less than 1 % of a smaller window', 1_499, { settings: { contextWindow: 150_000 } }],
        ['while the context has less than 20,000 tokens', 2_000, { size: sized(19_999) }],
        ['in a large window neither', 2_000, { size: sized(19_999), settings: { contextWindow: 1_000_000 } }],
        [
          'while the context takes less than 10 % of a smaller window',
          2_000,
          { size: sized(14_999), settings: { contextWindow: 150_000 } },
        ],
      ])('not %s', (_, freed, input) => {
        expect(freeing(freed, input)).toMatchObject({ type: 'declined', reason: 'too-little', worth: { freed } })
      })
    })

    test.each<[string, readonly number[], Partial<SituationInput>, string]>([
      ['five results are not enough', large, {}, 'nothing-to-do'],
      ['short ones are not worth it', [20, 20, 20, 20, 20, 20], {}, 'nothing-to-do'],
      ['a cold cache is a matter of idle time', [...large, 3_000], { now: 9_999_999_999_999 }, 'cache-not-warm'],
      [
        'finished turns stay',
        [...large, 3_000],
        { reductions: { ...reductions, keepFinished: true } },
        'client-unable',
      ],
    ])('%s', (_, results, input, reason) => {
      expect(finished(results, input)).toMatchObject({ type: 'declined', reason })
    })
  })

  test('edits are pinned: those of before go along with the new ones', () => {
    const cacheEdits = withDeleted(noCacheEdits, ids(1, 7))
    expect(planOf(19, { cacheEdits })).toMatchObject({
      freed: 7 * 92,
      request: { cacheEdits: [...deletions(1, 7), ...deletions(8, 14)] },
    })
    expect(pinnedCacheEdits(cacheEdits)).toEqual(deletions(1, 7))
  })

  test('where the API has no such block, its context management is asked for the same', () => {
    expect(planOf(12, { client: { contextManagement: true } })).toMatchObject({
      request: {
        contextManagement: {
          edits: [
            {
              type: 'clear_tool_uses_20250919',
              trigger: { type: 'tool_uses', value: 5 },
              keep: { type: 'tool_uses', value: 5 },
            },
          ],
        },
      },
    })
  })

  test('what was begun here continues here: the server would clear it once more, in its own words', () => {
    const built = session().user('go')
    for (const id of ids(1, 20)) built.toolUse(id, 'Bash').toolResult(id, text(100))
    const { records } = built
    const place = { uuid: 'e1', parentUuid: null, timestamp: new Date(0).toISOString(), sessionId: 's' }
    const cleared = editRecord(
      { type: 'clear-results', toolUseIds: ids(1, 5), mechanism: 'hand', reason: 'asked' },
      place,
    )
    const view = viewOf([...records, cleared])
    const now = (view.messages.at(-1)?.time ?? 0) + 1
    const known = { now, estimator: 'chars/4', expectedTurns: 1_000 } as const
    const plan = (client: NonNullable<SituationInput['client']>) =>
      microByCacheEdit.plan(view, situationOf(view, { ...known, client }))
    expect(plan({ contextManagement: true })).toMatchObject({
      freed: 10 * 92,
      edits: [{ type: 'clear-results', toolUseIds: ids(6, 15) }],
    })
    expect(plan({ cacheEdits: true })).toMatchObject({ request: { cacheEdits: deletions(6, 15) } })
  })

  describe('with clearInputs', () => {
    const planWith = (client: NonNullable<SituationInput['client']>) => {
      const built = session().user('go')
      for (const id of ids(1, 12)) built.toolUse(id, 'Write', { content: text(100) }).toolResult(id, text(100))
      const view = viewOf(built.records)
      const now = (view.messages.at(-1)?.time ?? 0) + 1
      const input = { now, client, estimator: 'chars/4', reductions: { clearInputs: true } } as const
      return microByCacheEdit.plan(view, situationOf(view, input))
    }

    test('the server is asked for what tools were given to write, too', () => {
      expect(planWith({ contextManagement: true })).toMatchObject({
        request: { contextManagement: { edits: [{ clear_tool_inputs: ['Write'] }] } },
      })
    })

    test('a cache edit frees results alone, since it reaches nothing else', () => {
      expect(planWith({ cacheEdits: true })).toMatchObject({ freed: 7 * 92 })
    })
  })
})

describe('what it costs', () => {
  test('is nothing where the client edits the cache in place', () => {
    expect(planOf(12, { client: { cacheEdits: true }, expectedTurns: 1 })).toMatchObject({
      type: 'delegated',
      worth: { suffix: 0, cost: 0 },
    })
  })

  test('is the prefix after the first result where the server clears: then it has to pay', () => {
    const server = (expectedTurns: number) => planOf(12, { client: { contextManagement: true }, expectedTurns })
    expect(server(1)).toMatchObject({ type: 'declined', reason: 'does-not-pay', worth: { pays: false } })
    const { worth } = server(1_000)
    expect(server(1_000).type).toBe('delegated')
    expect(worth?.suffix).toBeGreaterThan(0)
  })
})
