import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ExplainInput, explain } from './explain.ts'
import { ConfigurationError } from './figure.ts'

const at = (tokens: number): ExplainInput => ({
  model: 'claude-opus-4-5',
  size: { tokens, reported: tokens, estimated: 0, source: 'usage' },
})
const thrown = (input: ExplainInput): ConfigurationError => {
  try {
    explain(input)
  } catch (error) {
    if (error instanceof ConfigurationError) return error
  }
  throw new Error('no configuration error was thrown')
}

describe('windows', () => {
  test.each<[string, Partial<ExplainInput>, number, string]>([
    ['at most 20,000', {}, 20_000, 'the smaller of the output limit and 20,000'],
    [
      'the request of the host',
      { settings: { maxOutputTokens: 8_000 } },
      8_000,
      'the smaller of the output limit and 20,000',
    ],
    [
      'the limit of the model, though the host asks for more',
      { model: 'local', settings: { maxOutputTokens: 9_000 }, provider: { maxOutput: 4_000 } },
      4_000,
      'the smaller of the output limit and 20,000',
    ],
    ['at most 15 % of the window', { settings: { contextWindow: 8_000 } }, 1_200, '15 % of the window'],
    [
      'at most 15 % of the window that the environment narrows',
      { environment: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '16000' } },
      2_400,
      '15 % of the window',
    ],
    [
      'a request of the host below 15 %',
      { settings: { contextWindow: 8_000, maxOutputTokens: 500 } },
      500,
      'the smaller of the output limit and 20,000',
    ],
  ])('the reserve for a summary: %s', (_, more, reserve, source) => {
    const explained = explain({ ...at(0), ...more })
    expect(explained.reserve).toEqual({ value: reserve, source })
    expect(explained.effectiveWindow.value).toBe(explained.contextWindow.value - reserve)
  })

  test('a host that asks for more than the model can write is told so', () => {
    const settings = { contextWindow: 30_000, maxOutputTokens: 9_000 }
    expect(explain({ ...at(0), model: 'local', settings, provider: { maxOutput: 2_000 } }).maxOutputTokens).toEqual({
      value: 2_000,
      source: 'the provider',
      clamped: { from: 9_000, why: 'setting maxOutputTokens asks for more than the model can write' },
    })
  })

  test('a provider whose output limit is as large as its window is no error: the host cannot change that', () => {
    const provider = { window: 8_000, maxOutput: 8_000 }
    expect(explain({ ...at(0), model: 'local', provider }).effectiveWindow.value).toBe(6_800)
  })

  test.each<[string, Partial<ExplainInput>, number, string]>([
    [
      'the caller',
      { settings: { contextWindow: 300_000 }, provider: { window: 400_000 } },
      300_000,
      'setting contextWindow',
    ],
    ['the provider', { provider: { window: 400_000 }, learnedWindow: 150_000 }, 400_000, 'the provider'],
    ['an overflow error', { learnedWindow: 150_000 }, 150_000, 'learned from an overflow error'],
    ['the table', {}, 200_000, 'built-in table (claude-opus-4-5)'],
    ['caution', { model: 'who-knows' }, 128_000, 'no information: a cautious default'],
  ])('the window comes from %s, and says so', (_, more, value, source) => {
    expect(explain({ ...at(0), ...more }).contextWindow).toEqual({ value, source })
  })

  test.each(['EVERLONG_AUTO_COMPACT_WINDOW', 'CLAUDE_CODE_AUTO_COMPACT_WINDOW'])(
    '%s makes the window smaller',
    (name) => {
      expect(explain({ ...at(0), environment: { [name]: '60000' } }).contextWindow).toEqual({
        value: 60_000,
        source: name,
      })
    },
  )

  test('a larger window cannot be had that way, and explain says that it was clamped', () => {
    expect(explain({ ...at(0), environment: { EVERLONG_AUTO_COMPACT_WINDOW: '900000' } }).contextWindow).toEqual({
      value: 200_000,
      source: 'built-in table (claude-opus-4-5)',
      clamped: { from: 900_000, why: 'EVERLONG_AUTO_COMPACT_WINDOW can only make the window smaller' },
    })
  })

  test.each([
    [8_000, 6_280],
    [16_000, 12_560],
    [32_000, 25_120],
    [64_000, 50_240],
    [128_000, 100_480],
    [199_999, 167_000],
    [200_000, 167_000],
    [1_000_000, 967_000],
  ])('a window of %i is compacted at %i: the buffer is in proportion below 200,000', (contextWindow, threshold) => {
    const { autoCompactThreshold, warnings } = explain({ ...at(0), settings: { contextWindow } })
    expect([autoCompactThreshold.value, autoCompactThreshold.clamped, warnings]).toEqual([threshold, undefined, []])
  })

  test('too small a window is an error that names the numbers', () => {
    const error = thrown({ ...at(0), settings: { contextWindow: 3_528 } })
    expect(error.message).toBe(
      'A context window of 3,528 tokens (setting contextWindow) less 529 for a summary leaves 2,999 usable tokens; at least 3,000 are needed.',
    )
    expect(error.numbers).toEqual({ contextWindow: 3_528, reserve: 529, usable: 2_999, needed: 3_000 })
    expect(explain({ ...at(0), settings: { contextWindow: 3_529 } }).effectiveWindow.value).toBe(3_000)
  })

  test('an output limit that does not fit into the window is an error that names the numbers', () => {
    const error = thrown({ ...at(0), settings: { contextWindow: 64_000, maxOutputTokens: 64_000 } })
    expect(error.message).toBe(
      'The output limit of 64,000 tokens (setting maxOutputTokens) does not fit into a context window of 64,000 tokens (setting contextWindow).',
    )
  })
})

describe('thresholds', () => {
  test.each([
    [
      'a 200k window with 20k output or more',
      {},
      { threshold: 167_000, warning: 147_000, error: 147_000, blocking: 177_000 },
    ],
    [
      'a million-token window',
      { model: 'claude-opus-5' },
      { threshold: 967_000, warning: 947_000, error: 947_000, blocking: 977_000 },
    ],
    [
      'an unknown model',
      { model: 'who-knows' },
      { threshold: 100_480, warning: 87_680, error: 87_680, blocking: 106_880 },
    ],
    [
      'a small window: all distances are in proportion',
      { settings: { contextWindow: 40_000, maxOutputTokens: 4_000 } },
      { threshold: 33_400, warning: 29_400, error: 29_400, blocking: 35_400 },
    ],
    [
      'a low threshold, where the gauge is calm while there is room',
      { settings: { autoCompactAt: 10_000 } },
      { threshold: 10_000, warning: 7_500, error: 7_500, blocking: 177_000 },
    ],
    [
      'a blocking limit below the threshold: the compaction comes first',
      { settings: { blockingLimit: 120_000 } },
      { threshold: 120_000, warning: 100_000, error: 100_000, blocking: 120_000 },
    ],
    [
      'an output limit of 8k',
      { settings: { maxOutputTokens: 8_000 } },
      { threshold: 179_000, warning: 159_000, error: 159_000, blocking: 189_000 },
    ],
  ])('of %s', (_, more, expected) => {
    const { autoCompactThreshold, warning, error, blocking } = explain({ ...at(0), ...more })
    expect({
      threshold: autoCompactThreshold.value,
      warning: warning.value,
      error: error.value,
      blocking: blocking.value,
    }).toEqual(expected)
  })

  test.each([
    [0, 'ok', 100],
    [146_999, 'ok', 12],
    [147_000, 'error', 12],
    [166_999, 'error', 0],
    [167_000, 'over-threshold', 0],
    [176_999, 'over-threshold', 0],
    [177_000, 'blocking', 0],
    [500_000, 'blocking', 0],
  ])('%i tokens of 200k: %s, %i %% left', (tokens, state, left) => {
    const explained = explain(at(tokens))
    expect([explained.state, explained.percentLeft]).toEqual([state, left])
  })

  test('the error mark has its own distance, so that yellow comes before red', () => {
    const input = { ...at(150_000), settings: { errorDistance: 10_000 } }
    expect(explain(input).state).toBe('warning')
    expect(explain(input).error).toEqual({ value: 157_000, source: '10,000 before the limit (setting errorDistance)' })
  })

  test.each([
    ['DISABLE_AUTO_COMPACT', { DISABLE_AUTO_COMPACT: 'yes' }, true],
    ['DISABLE_COMPACT', { DISABLE_COMPACT: '1' }, false],
  ])('%s turns auto-compact off: the gauge then counts down to the effective window', (name, environment, manual) => {
    const explained = explain({ ...at(170_000), environment })
    expect(explained.autoCompact).toEqual({ mode: false, source: name })
    expect(explained.manualCompact.allowed).toBe(manual)
    expect(explained.limit.value).toBe(180_000)
    expect(explained.isAboveThreshold).toBe(false)
    expect(explained.percentLeft).toBe(6)
  })

  test('auto-compact can ask first, and is then still on', () => {
    const explained = explain({ ...at(168_000), settings: { compaction: 'ask' } })
    expect(explained.autoCompact).toEqual({ mode: 'ask', source: 'setting compaction' })
    expect(explained.state).toBe('over-threshold')
  })

  test.each(['EVERLONG_AUTOCOMPACT_PCT', 'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE'])(
    '%s brings the threshold forward',
    (name) => {
      expect(explain({ ...at(0), environment: { [name]: '50' } }).autoCompactThreshold).toEqual({
        value: 90_000,
        source: name,
      })
    },
  )

  test('a percentage beyond the default is clamped, and explain says so', () => {
    expect(explain({ ...at(0), environment: { EVERLONG_AUTOCOMPACT_PCT: '99' } }).autoCompactThreshold).toEqual({
      value: 167_000,
      source: 'the effective window less 13,000',
      clamped: {
        from: 178_200,
        why: 'EVERLONG_AUTOCOMPACT_PCT asks for 178,200, but compaction comes no later than 167,000',
      },
    })
  })

  test('the setting autoCompactAt is absolute or relative, for every model or one, and a variable comes before it', () => {
    const threshold = (input: Partial<ExplainInput>) => explain({ ...at(0), ...input }).autoCompactThreshold.value
    expect(threshold({ settings: { autoCompactAt: 100_000 } })).toBe(100_000)
    expect(threshold({ settings: { autoCompactAt: '40%' } })).toBe(72_000)
    expect(threshold({ settings: { autoCompactAt: { 'claude-opus-4-5': 90_000 } } })).toBe(90_000)
    const environment = { EVERLONG_AUTOCOMPACT_PCT: '50' }
    expect(threshold({ settings: { autoCompactAt: 70_000 }, environment })).toBe(90_000)
  })

  test.each([
    [{ settings: { autoCompactAt: 500 } }, 'setting autoCompactAt', '500'],
    [{ environment: { EVERLONG_AUTOCOMPACT_PCT: '1' } }, 'EVERLONG_AUTOCOMPACT_PCT', '1,800'],
  ])('%j would compact every turn: it comes later, and a warning says so', (input, source, asked) => {
    const { autoCompactThreshold, warnings } = explain({ ...at(0), ...input })
    expect([autoCompactThreshold.value, autoCompactThreshold.source]).toEqual([3_000, source])
    const why = `${source} asks for ${asked}, but with less than 3,000 every turn would compact`
    expect(warnings).toEqual([`3,000 tokens are used in place of ${asked}: ${why}.`])
  })

  test.each([
    [175_000, 175_000],
    [177_000, 177_000],
    [177_001, 177_000],
    ['99%', 177_000],
  ] as const)('autoCompactAt %s is obeyed up to the blocking limit: %i', (autoCompactAt, value) => {
    const { autoCompactThreshold, blocking, warnings } = explain({ ...at(0), settings: { autoCompactAt } })
    expect([autoCompactThreshold.value, blocking.value]).toEqual([value, 177_000])
    const asked = autoCompactAt === '99%' ? 178_200 : autoCompactAt
    expect([autoCompactThreshold.clamped?.from, warnings.length]).toEqual(asked > 177_000 ? [asked, 1] : [undefined, 0])
  })

  test('a percentage may have its sign', () => {
    const { autoCompactThreshold, warnings } = explain({ ...at(0), environment: { EVERLONG_AUTOCOMPACT_PCT: '40 %' } })
    expect([autoCompactThreshold.value, warnings]).toEqual([72_000, []])
  })

  test('what is capped is named in a warning, and what nobody asked for is not', () => {
    const environment = { EVERLONG_BLOCKING_LIMIT: '999999', CLAUDE_CODE_AUTO_COMPACT_WINDOW: '999999' }
    expect(explain({ ...at(0), environment, settings: { autoCompactAt: 190_000 } }).warnings).toEqual([
      '200,000 tokens are used in place of 999,999: CLAUDE_CODE_AUTO_COMPACT_WINDOW can only make the window smaller.',
      '180,000 tokens are used in place of 190,000: setting autoCompactAt asks for 190,000, but compaction comes no later than 180,000.',
      '180,000 tokens are used in place of 999,999: EVERLONG_BLOCKING_LIMIT asks for more than the effective window of 180,000.',
    ])
    expect(explain({ ...at(0), settings: { contextWindow: 30_000 } }).warnings).toEqual([])
  })

  test.each(['EVERLONG_BLOCKING_LIMIT', 'CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE'])(
    '%s moves the blocking limit',
    (name) => {
      expect(explain({ ...at(120_000), environment: { [name]: '120000' } }).state).toBe('blocking')
    },
  )

  test.each([
    [8_000, '50%', 3_400, 0],
    [8_000, '95%', 6_460, 0],
    [8_000, 6_680, 6_680, 0],
    [8_000, 6_681, 6_680, 1],
    [8_000, '100%', 6_680, 1],
    [8_000, 50_000, 6_680, 1],
    [8_000, 2_999, 3_000, 1],
    [32_000, '90%', 24_480, 0],
    [60_000, 50_000, 50_000, 0],
  ] as const)('in a window of %i, autoCompactAt %s is %i, with %i warnings', (contextWindow, asked, value, warned) => {
    const { autoCompactThreshold, warnings } = explain({
      ...at(0),
      settings: { contextWindow, autoCompactAt: asked },
    })
    expect([autoCompactThreshold.value, warnings.length]).toEqual([value, warned])
  })

  test('in any window that is allowed the marks are in order and the percentage is one', () => {
    const mark = fc.oneof(
      fc.integer({ min: 1, max: 300_000 }),
      fc.integer({ min: 1, max: 100 }).map((share): `${number}%` => `${share}%`),
    )
    const settings = {
      maxOutputTokens: fc.option(fc.integer({ min: 1, max: 3_999 }), { nil: undefined }),
      autoCompactAt: fc.option(mark, { nil: undefined }),
      blockingLimit: fc.option(fc.integer({ min: 1, max: 300_000 }), { nil: undefined }),
    }
    const window = fc.oneof(fc.integer({ min: 4_000, max: 40_000 }), fc.integer({ min: 4_000, max: 2_000_000 }))
    const provider = fc.record({ maxOutput: fc.option(fc.integer({ min: 1, max: 300_000 }), { nil: undefined }) })
    fc.assert(
      fc.property(window, fc.record(settings), provider, fc.nat(2_500_000), (contextWindow, more, limits, tokens) => {
        const input = { ...at(tokens), model: 'local', provider: limits }
        const explained = explain({ ...input, settings: { ...more, contextWindow } })
        const { warning, error, limit, autoCompactThreshold, blocking, effectiveWindow } = explained
        const marks = [0, warning, error, limit, autoCompactThreshold, blocking, effectiveWindow, contextWindow].map(
          (mark) => (typeof mark === 'number' ? mark : mark.value),
        )
        expect(marks).toEqual(marks.toSorted((a, b) => a - b))
        expect(warning.value).toBeGreaterThan(0)
        expect(explained.reserve.value).toBeGreaterThan(0)
        expect(explained.percentLeft).toBeGreaterThanOrEqual(0)
        expect(explained.percentLeft).toBeLessThanOrEqual(100)
      }),
    )
  })

  test('counts the messages itself when it is given no size, for the model that answered last', () => {
    const { model, size } = explain({
      messages: [
        {
          role: 'assistant',
          origin: 'assistant',
          content: 'yes',
          model: 'claude-opus-4-6',
          usage: { input: 900, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 },
        },
      ],
    })
    expect({ model, size }).toEqual({
      model: 'claude-opus-4-6',
      size: { tokens: 1_000, reported: 1_000, estimated: 0, source: 'usage' },
    })
  })
})
