import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { memorySessions } from '../../stores/memory.ts'
import { isObject } from '../message/json.ts'
import { checkSettings, settingPaths, warningOf } from './check.ts'

/** The settings and warnings of an engine with this value. */
function checked(given: unknown) {
  const { settings, problems } = checkSettings(given)
  return { settings, warnings: problems.map(warningOf) }
}

const cycle: Record<string, unknown> = {}
cycle.cycle = cycle

/** Typical mistakes of programs in JavaScript. */
const junk: readonly (readonly [string, unknown])[] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-1', -1],
  ['1e21', 1e21],
  ['0.5', 0.5],
  ['empty text', ''],
  ['x', 'x'],
  ['NaN%', 'NaN%'],
  ['null', null],
  ['list', []],
  ['[NaN]', [Number.NaN]],
  ['empty object', {}],
  ['{a: NaN}', { a: Number.NaN }],
  ['{tokens: NaN}', { tokens: Number.NaN }],
  ['{tokens: -5}', { tokens: -5 }],
  ['{from: 7}', { from: 7 }],
  ['function', () => 1],
  ['bigint', 5n],
  ['symbol', Symbol('x')],
  ['date', new Date(0)],
  ['cycle', cycle],
]

const paths = settingPaths()

/** `{ summary: { model: value } }` for `summary.model`. */
function settingsWith(names: readonly string[], value: unknown): Record<string, unknown> {
  const settings: Record<string, unknown> = {}
  for (const path of names) {
    const parts = path.split('.')
    const last = parts.pop() ?? ''
    let place = settings
    for (const part of parts) {
      if (!isObject(place[part])) place[part] = {}
      place = place[part] as Record<string, unknown>
    }
    place[last] = value
  }
  return settings
}

describe('settings', () => {
  test.each(junk)('%s is either a value that is stored the same, or named in a warning', (_, value) => {
    for (const path of paths) {
      const { settings, warnings } = checked(settingsWith([path], value))
      expect(JSON.parse(JSON.stringify(settings))).toEqual(settings)
      const isKept = isDeepStrictEqual(settings, settingsWith([path], value))
      expect([path, isKept || warnings.length > 0]).toEqual([path, true])
      for (const warning of warnings) expect(warning).toContain(`setting ${path}`)
    }
  })

  test.each([...junk, ['all right', undefined] as const])('a session with %s everywhere works', async (_, value) => {
    const settings = settingsWith(paths, value)
    const session = await createEngine({ model: offline(), environment: {}, store: memorySessions(), settings }).start()
    for (let at = 0; at < 4; at++) {
      session.add({ role: 'user', content: `Say ${at}.` })
      expect(await session.prepare()).toMatchObject({ type: 'ready' })
      session.record({ content: `${at} was said. `.repeat(200) })
    }
    const { percentLeft, autoCompactThreshold, blocking } = session.explain()
    for (const figure of [percentLeft, autoCompactThreshold.value, blocking.value]) expect(figure).toBeTypeOf('number')
    expect((await session.compact()).type).toMatch(/compacted/)
    await session.close()
  })

  test.each<[string, unknown, object, readonly string[]]>([
    ['nothing', undefined, {}, []],
    ['null', null, {}, ['The settings are ignored: null is not an object.']],
    ['a typo', { contextWindw: 1 }, {}, ['There is no setting contextWindw: did you mean contextWindow?']],
    [
      'a typo in a group',
      { summary: { modl: 'x' } },
      { summary: {} },
      ['There is no setting summary.modl: did you mean summary.model?'],
    ],
    [
      'the wrong place',
      { handoverTokens: 5 },
      {},
      ['There is no setting handoverTokens: did you mean summary.handoverTokens?'],
    ],
    [
      'an old name',
      { sessionMemory: { first: 5, keep: { mostTokens: 5 } } },
      { sessionMemory: { keep: {} } },
      [
        'There is no setting sessionMemory.first: it was renamed to sessionMemory.minTokens.',
        'There is no setting sessionMemory.keep.mostTokens: it was renamed to sessionMemory.keep.maxTokens.',
      ],
    ],
    ['an unknown name', { colour: 'red' }, {}, ['There is no setting colour; it is ignored.']],
    [
      'a name of every object',
      { constructor: 1, toString: 2 },
      {},
      ['There is no setting constructor; it is ignored.', 'There is no setting toString; it is ignored.'],
    ],
    [
      'a word for a number',
      { keep: 'four' },
      {},
      ['The setting keep is ignored: "four" is not a number of messages, or { tokens: a whole number of tokens }.'],
    ],
    [
      'null for an object',
      { background: null, reductions: null },
      {},
      [
        'The setting background is ignored: null is not true or false, or { from: a share between 0 and 1 }.',
        'The setting reductions is ignored: null is not an object of settings.',
      ],
    ],
    [
      'no list',
      { reductions: { reproducible: 'Bash' } },
      { reductions: {} },
      ['The setting reductions.reproducible is ignored: "Bash" is not a list of texts.'],
    ],
    [
      'one of several',
      { autoCompactAt: { a: '50%', b: Number.NaN } },
      { autoCompactAt: { a: '50%' } },
      [
        'The setting autoCompactAt["b"] is ignored: NaN is not a whole number of tokens above 0, or a share such as "80%".',
      ],
    ],
    [
      'a kind that is none',
      { reductions: { toolKinds: { a: 'read', b: null, c: 'rd' } } },
      { reductions: { toolKinds: { a: 'read', b: null } } },
      [
        'The setting reductions.toolKinds["c"] is ignored: "rd" is not one of read, shell, grep, glob, web-fetch, web-search, edit, write, null.',
      ],
    ],
    [
      'a share at its ends',
      { target: 1, background: { from: 0 } },
      {},
      [
        'The setting target is ignored: 1 is not a share between 0 and 1.',
        'The setting background is ignored: a value of type object is not true or false, or { from: a share between 0 and 1 }.',
      ],
    ],
    ['the name of another tool', { autoCompactEnabled: false }, { compaction: 'manual' }, []],
    ['it, and ours', { autoCompactEnabled: false, compaction: 'ask' }, { compaction: 'ask' }, []],
    [
      'it, unreadable',
      { autoCompactEnabled: 'no' },
      {},
      ['The setting autoCompactEnabled is ignored: "no" is not true or false.'],
    ],
  ])('%s', (_, given, settings, warnings) => {
    expect(checked(given)).toEqual({ settings, warnings })
  })

  test('what a host may set stays as it is', () => {
    const settings = {
      compaction: 'ask',
      keep: { tokens: 0 },
      background: { from: 0.5 },
      sessionMemory: { isOn: true, keep: { minMessages: 0 } },
      reductions: { microCompact: false, byIdle: { minutes: 0.5 }, native: {} },
      summary: { restoreTokens: 0 },
      cacheMarks: false,
      warningDistance: undefined,
    } as const
    const { warningDistance: _, ...set } = settings
    expect(checked(settings)).toEqual({ settings: set, warnings: [] })
  })
})
