import { describe, expect, test } from 'vitest'
import { completeSettings, defaultSettings, reductionSettings } from './resolve.ts'
import type { EngineSettings } from './table.ts'

test('what a host sets takes the place of one default, and of no other', () => {
  const { summary, sessionMemory, reductions } = defaultSettings
  expect(
    completeSettings({
      target: 0.3,
      askTimeoutMs: 0,
      cacheMarks: false,
      contextWindow: undefined,
      summary: { restoreTokens: 0 },
      sessionMemory: { keep: { minMessages: 0 } },
    }),
  ).toEqual({
    ...defaultSettings,
    target: 0.3,
    askTimeoutMs: 0,
    cacheMarks: false,
    summary: { ...summary, restoreTokens: 0 },
    sessionMemory: { ...sessionMemory, isOn: true, keep: { ...sessionMemory.keep, minMessages: 0 } },
    // Only a cache of five minutes is cold after this pause.
    reductions: { ...reductions, byIdle: { ...reductions.byIdle, minutes: 60 } },
  })
})

test.each<[EngineSettings['sessionMemory'], boolean]>([
  [undefined, false],
  [true, true],
  [false, false],
  [{ isOn: false }, false],
  [{ growth: 1 }, true],
])('sessionMemory %j: notes are taken: %s', (sessionMemory, isOn) => {
  expect(completeSettings({ sessionMemory }).sessionMemory.isOn).toBe(isOn)
})

describe('the economies', () => {
  const { reductions, sessionMemory } = defaultSettings

  test('the default and a thrifty session clear as soon as it pays, take a cold cache for cold, and take no notes', () => {
    const expected = {
      microCompact: 'always',
      keepFinished: false,
      clearInputs: true,
      bySize: { keep: 3, target: 10_000, minFreed: 20_000 },
      byCacheEdit: { trigger: 6, keep: 8 },
      byIdle: { keep: 3, minutes: 5 },
    }
    expect([defaultSettings.economy, reductions]).toEqual(['default', { ...reductions, ...expected }])
    expect(sessionMemory.isOn).toBe(false)
    expect(completeSettings({ economy: 'thrifty' })).toEqual({ ...defaultSettings, economy: 'thrifty' })
  })

  test('claude-code has the thresholds of the specification', () => {
    expect(completeSettings({ economy: 'claude-code' })).toEqual({
      ...defaultSettings,
      economy: 'claude-code',
      sessionMemory: { ...sessionMemory, isOn: true },
      reductions: {
        ...reductions,
        microCompact: 'above-warning',
        keepFinished: true,
        clearInputs: false,
        bySize: { keep: 3, target: 40_000, minFreed: 20_000 },
        byCacheEdit: { trigger: 12, keep: 5 },
        byIdle: { keep: 5, minutes: 60 },
      },
    })
  })

  test('what the host has set stays, and so does an idle hour where the cache is kept for one', () => {
    const set = {
      economy: 'thrifty',
      cacheMarks: '1h',
      sessionMemory: true,
      reductions: { microCompact: false, bySize: { target: 1 }, byCacheEdit: { keep: 9 }, boundThinking: 'remove' },
    } as const
    expect(completeSettings(set)).toEqual({
      ...defaultSettings,
      ...set,
      sessionMemory: { ...sessionMemory, isOn: true },
      reductions: {
        ...reductions,
        ...set.reductions,
        bySize: { ...reductions.bySize, target: 1 },
        byCacheEdit: { trigger: 6, keep: 9 },
        byIdle: { keep: 3, minutes: 60 },
      },
    })
  })

  test('keeps the idle minutes of the host, whatever the lifetime of the cache', () => {
    const minutesWith = (cacheMarks: '5m' | '1h') =>
      completeSettings({ cacheMarks, reductions: { byIdle: { minutes: 7 } } }).reductions.byIdle
    expect([minutesWith('5m').minutes, minutesWith('1h').minutes]).toEqual([7, 7])
  })
})

test('reductions that cannot be read count as not given', () => {
  const bySize = { keep: Number.NaN, target: -1, minFreed: 5 }
  const { recall, ...reductions } = reductionSettings({ recall: true, bySize, microCompact: 'sometimes' as 'always' })
  expect(recall).toBe(true)
  // Outside a session the thresholds are those of the specification.
  const { reductions: specified } = completeSettings({ economy: 'claude-code' })
  expect(reductions).toEqual({ ...specified, bySize: { ...specified.bySize, minFreed: 5 } })
})
