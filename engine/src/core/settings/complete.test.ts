import { describe, expect, test } from 'vitest'
import { completeSettings, defaultSettings, reductionSettings } from './resolve.ts'
import type { EngineSettings } from './table.ts'

test('what a host sets takes the place of one default, and of no other', () => {
  const { summary, sessionMemory } = defaultSettings
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
    sessionMemory: { ...sessionMemory, keep: { ...sessionMemory.keep, minMessages: 0 } },
  })
})

test.each<[EngineSettings['sessionMemory'], boolean]>([
  [undefined, true],
  [true, true],
  [false, false],
  [{ isOn: false }, false],
  [{ growth: 1 }, true],
])('sessionMemory %j: notes are taken: %s', (sessionMemory, isOn) => {
  expect(completeSettings({ sessionMemory }).sessionMemory.isOn).toBe(isOn)
})

describe('a thrifty session', () => {
  const { reductions, sessionMemory } = defaultSettings

  test('clears as soon as it pays, takes a cold cache for cold, and takes no notes', () => {
    expect(completeSettings({ economy: 'thrifty' })).toEqual({
      ...defaultSettings,
      economy: 'thrifty',
      sessionMemory: { ...sessionMemory, isOn: false },
      reductions: {
        ...reductions,
        microCompact: 'always',
        keepFinished: false,
        clearInputs: true,
        bySize: { ...reductions.bySize, target: 10_000 },
        byCacheEdit: { trigger: 6, keep: 8 },
        byIdle: { keep: 3, minutes: 5 },
      },
    })
  })

  test('leaves what the host has set, and an idle hour where the cache is kept for one', () => {
    const set = {
      economy: 'thrifty',
      cacheMarks: '1h',
      sessionMemory: true,
      reductions: { microCompact: false, bySize: { target: 1 }, byCacheEdit: { keep: 9 }, boundThinking: 'remove' },
    } as const
    expect(completeSettings(set)).toEqual({
      ...defaultSettings,
      ...set,
      sessionMemory,
      reductions: {
        ...reductions,
        ...set.reductions,
        keepFinished: false,
        clearInputs: true,
        bySize: { ...reductions.bySize, target: 1 },
        byCacheEdit: { trigger: 6, keep: 9 },
        byIdle: { keep: 3, minutes: 60 },
      },
    })
  })

  test('keeps the idle minutes of the host, whatever the lifetime of the cache', () => {
    const minutesWith = (cacheMarks: '5m' | '1h') =>
      completeSettings({ economy: 'thrifty', cacheMarks, reductions: { byIdle: { minutes: 7 } } }).reductions.byIdle
    expect([minutesWith('5m').minutes, minutesWith('1h').minutes]).toEqual([7, 7])
  })
})

test('reductions that cannot be read count as not given', () => {
  const bySize = { keep: Number.NaN, target: -1, minFreed: 5 }
  const { recall, ...reductions } = reductionSettings({ recall: true, bySize, microCompact: 'sometimes' as 'always' })
  expect(recall).toBe(true)
  expect(reductions).toEqual({
    ...defaultSettings.reductions,
    bySize: { ...defaultSettings.reductions.bySize, minFreed: 5 },
  })
})
