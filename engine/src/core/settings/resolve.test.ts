import { describe, expect, test } from 'vitest'
import { type Environment, isTruthy, mergeSettings, readEnvironment, resolveSettings, variablesIn } from './resolve.ts'
import { boolean, flag, setting, wholeNumber } from './rules.ts'
import type { EngineSettings } from './table.ts'

describe('settings', () => {
  test('truthy means 1, true, yes and on, in any case', () => {
    const truthy = ['1', 'true', 'TRUE', 'yes', 'On', ' on ']
    const falsy = ['0', 'false', 'no', 'off', '', '2', 'enabled', undefined]
    expect(truthy.filter(isTruthy)).toEqual(truthy)
    expect(falsy.filter(isTruthy)).toEqual([])
  })

  test('both spellings of a variable are read, ours first, and a variable comes before a setting', () => {
    const read = (environment: Record<string, string>) =>
      resolveSettings({ settings: { blockingLimit: 1_000 }, environment }).blockingLimit
    expect(read({ CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: '90000' })).toEqual({
      value: 90_000,
      source: 'CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE',
    })
    expect(read({ CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: '90000', EVERLONG_BLOCKING_LIMIT: '80_000' })).toEqual({
      value: 80_000,
      source: 'EVERLONG_BLOCKING_LIMIT',
    })
    expect(read({})).toEqual({ value: 1_000, source: 'setting blockingLimit' })
  })

  test('a variable that the runtime refuses to give is not set, and the others are read', () => {
    const environment: Environment = new Proxy(
      { EVERLONG_BLOCKING_LIMIT: '80000' },
      {
        get: (target, name) => {
          if (name === 'EVERLONG_BLOCKING_LIMIT') return target[name]
          throw new Error('Requires env access')
        },
      },
    )
    const { blockingLimit, warnings } = resolveSettings({ environment })
    expect([blockingLimit, warnings]).toEqual([{ value: 80_000, source: 'EVERLONG_BLOCKING_LIMIT' }, []])
  })

  test('what cannot be read is ignored with one warning each', () => {
    const environment = {
      EVERLONG_AUTOCOMPACT_PCT: 'most',
      EVERLONG_BLOCKING_LIMIT: '12abc',
      EVERLONG_AUTO_COMPACT_WINDOW: '-5',
    }
    const resolved = resolveSettings({ environment, settings: { contextWindow: Number.NaN } })
    expect(resolved.warnings).toEqual([
      'The setting contextWindow is ignored: NaN is not a whole number of tokens above 0.',
      'EVERLONG_AUTOCOMPACT_PCT is ignored: "most" is not a percentage above 0 and up to 100.',
      'EVERLONG_AUTO_COMPACT_WINDOW is ignored: "-5" is not a whole number of tokens above 0.',
      'EVERLONG_BLOCKING_LIMIT is ignored: "12abc" is not a whole number of tokens above 0.',
    ])
    expect(resolved.blockingLimit).toBeUndefined()
  })

  test.each([['0'], ['101'], ['-1'], ['NaN']])('a percentage of %s is ignored', (text) => {
    expect(resolveSettings({ environment: { EVERLONG_AUTOCOMPACT_PCT: text } }).autoCompactAt).toBeUndefined()
  })

  test('a mark by model is taken from the longest prefix of the model id', () => {
    const settings = { autoCompactAt: { 'claude-opus': 120_000, 'claude-opus-5': '70%' } } as const
    expect(resolveSettings({ settings, model: 'claude-opus-5-20260401' }).autoCompactAt).toEqual({
      value: '70%',
      source: 'setting autoCompactAt["claude-opus-5"]',
      onlyLowers: false,
    })
    expect(resolveSettings({ settings, model: 'gpt-5' }).autoCompactAt).toBeUndefined()
  })
})

test.each([
  ['nothing', {}, 'auto', 'default'],
  ['the setting', { settings: { compaction: 'reactive' } }, 'reactive', 'setting compaction'],
  ['DISABLE_AUTO_COMPACT', { environment: { DISABLE_AUTO_COMPACT: '1' } }, 'manual', 'DISABLE_AUTO_COMPACT'],
  [
    'DISABLE_AUTO_COMPACT, where the setting turns off more',
    { settings: { compaction: 'off' }, environment: { DISABLE_AUTO_COMPACT: '1' } },
    'off',
    'setting compaction',
  ],
  [
    'DISABLE_COMPACT, whatever else is said',
    { settings: { compaction: 'auto' }, environment: { DISABLE_COMPACT: 'yes', DISABLE_AUTO_COMPACT: '1' } },
    'off',
    'DISABLE_COMPACT',
  ],
] as const)('when a session compacts: %s', (_, input, value, source) => {
  expect(resolveSettings(input).compaction).toEqual({ value, source })
})

test('a value of compaction that nobody knows is ignored with a warning', () => {
  const { compaction, warnings } = resolveSettings({ settings: { compaction: 'sometimes' as never } })
  expect(compaction).toEqual({ value: 'auto', source: 'default' })
  expect(warnings).toEqual([
    'The setting compaction is ignored: "sometimes" is not one of auto, ask, reactive, manual, off.',
  ])
})

describe('the environment', () => {
  test('comes before every setting that has a variable, and leaves the others', () => {
    const given = {
      collapse: false,
      autoCompactAt: 100_000,
      compaction: 'auto',
      blockingLimit: 9,
      target: 0.5,
    } as const
    const environment = {
      CLAUDE_CONTEXT_COLLAPSE: 'on',
      EVERLONG_AUTOCOMPACT_PCT: '40 %',
      DISABLE_AUTO_COMPACT: '1',
      EVERLONG_BLOCKING_LIMIT: '90,000',
    }
    expect(readEnvironment(given, environment)).toEqual({
      settings: { collapse: true, autoCompactAt: '40%', compaction: 'manual', blockingLimit: 90_000, target: 0.5 },
      sources: {
        collapse: 'CLAUDE_CONTEXT_COLLAPSE',
        autoCompactAt: 'EVERLONG_AUTOCOMPACT_PCT',
        compaction: 'DISABLE_AUTO_COMPACT',
        blockingLimit: 'EVERLONG_BLOCKING_LIMIT',
      },
      maxWindow: undefined,
      warnings: [],
    })
  })

  test('of an unreadable and a readable variable the readable one counts, and the other is named', () => {
    const environment = { EVERLONG_AUTOCOMPACT_PCT: '0', CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' }
    const { autoCompactAt, warnings } = resolveSettings({ environment })
    expect(autoCompactAt).toEqual({ value: '50%', source: 'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE', onlyLowers: true })
    expect(warnings).toEqual(['EVERLONG_AUTOCOMPACT_PCT is ignored: "0" is not a percentage above 0 and up to 100.'])
  })

  describe('inside a group', () => {
    const variables = variablesIn({
      sessionMemory: {
        or: boolean,
        fields: {
          isOn: setting(boolean, true, { environment: [flag('NOTES_OFF', false, true)] }),
          keep: {
            fields: { minMessages: setting(wholeNumber(2), 5, { environment: [{ type: 'number', name: 'KEEP' }] }) },
          },
        },
      },
    })

    test.each<[EngineSettings['sessionMemory'], Environment, EngineSettings['sessionMemory'], object]>([
      [undefined, { KEEP: '2' }, { keep: { minMessages: 2 } }, { 'sessionMemory.keep.minMessages': 'KEEP' }],
      [
        { growth: 1, keep: { minTokens: 2, minMessages: 9 } },
        { KEEP: ' 1,000 ' },
        { growth: 1, keep: { minTokens: 2, minMessages: 1_000 } },
        { 'sessionMemory.keep.minMessages': 'KEEP' },
      ],
      [false, { KEEP: '3' }, { isOn: false, keep: { minMessages: 3 } }, { 'sessionMemory.keep.minMessages': 'KEEP' }],
      [{ growth: 1 }, { NOTES_OFF: '1' }, { growth: 1, isOn: false }, { 'sessionMemory.isOn': 'NOTES_OFF' }],
      [true, { NOTES_OFF: '1' }, true, {}],
      [true, { KEEP: '', NOTES_OFF: 'no' }, true, {}],
    ])('%j with %j is %j', (sessionMemory, environment, expected, sources) => {
      expect(readEnvironment({ target: 0.5, sessionMemory }, environment, variables)).toEqual({
        settings: { target: 0.5, sessionMemory: expected },
        sources,
        maxWindow: undefined,
        warnings: [],
      })
    })

    test.each(['1', '2.5', '-3', 'many'])(
      '"%s" breaks the rule of the setting and is ignored with a warning',
      (KEEP) => {
        const given = { sessionMemory: { keep: { minMessages: 7 } } }
        const { settings, sources, warnings } = readEnvironment(given, { KEEP }, variables)
        expect([settings, sources]).toEqual([given, {}])
        expect(warnings).toEqual([`KEEP is ignored: "${KEEP}" is not a whole number of at least 2.`])
      },
    )
  })

  test('read twice gives the same', () => {
    const environment = { CLAUDE_CONTEXT_COLLAPSE: '1', EVERLONG_AUTOCOMPACT_PCT: '70', DISABLE_COMPACT: 'yes' }
    const once = readEnvironment({}, environment).settings
    expect(readEnvironment(once, environment).settings).toEqual(once)
  })
})

test.each<[EngineSettings, EngineSettings, EngineSettings]>([
  [{ target: 0.5 }, { target: undefined, collapse: true }, { target: 0.5, collapse: true }],
  [
    { summary: { model: 'a', offline: 'never' } },
    { summary: { model: 'b' } },
    { summary: { model: 'b', offline: 'never' } },
  ],
  [{ sessionMemory: { growth: 1 } }, { sessionMemory: false }, { sessionMemory: { growth: 1, isOn: false } }],
  [{}, { sessionMemory: false, reductions: { native: {} } }, { sessionMemory: false, reductions: { native: {} } }],
  // One setting each, whose value is an object.
  [{ keep: { tokens: 5 } }, { keep: 3 }, { keep: 3 }],
  [{ reductions: { toolKinds: { a: 'read' } } }, { reductions: { toolKinds: {} } }, { reductions: { toolKinds: {} } }],
])('%j merged with %j is %j', (first, second, expected) => {
  expect(mergeSettings(first, second)).toEqual(expected)
})
