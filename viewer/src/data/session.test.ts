import { breakdown } from 'everlong/internal/compaction'
import { clientStyles, generateSession, keptLayouts, session, thinkingBlock } from 'everlong/internal/testing'
import { describe, expect, test } from 'vitest'
import { lossySession, viewOf } from '../testing/sessions.ts'
import { bands } from './api.ts'

describe('the conversation', () => {
  const view = viewOf(lossySession())
  const { conversation } = view

  test('has every message of every epoch, the compaction and what it restored, in the order of the file', () => {
    const items = conversation.page(0, 100)
    expect(items.map(({ type }) => type).join(' ')).toBe(
      'user assistant result assistant result assistant assistant result assistant result assistant result assistant user assistant compaction summary attachment user assistant',
    )
    expect(items.map(({ epoch }) => epoch)).toEqual([...Array(15).fill(0), ...Array(5).fill(1)])
    expect(items.filter(({ isLive }) => isLive).map(({ index }) => index)).toEqual([16, 17, 18, 19])
    expect(items[15]).toMatchObject({ type: 'compaction', compaction: 1 })
    expect(items[4]?.blocks).toEqual([
      {
        type: 'result',
        text: 'Exit code 2\nError: checkpoint refused',
        length: 37,
        isCut: false,
        tool: 'Bash',
        callId: 't2',
        isError: true,
      },
    ])
  })

  test('comes in pages: none after the end, and the last one is short', () => {
    expect(conversation.page(18, 5).map(({ index }) => index)).toEqual([18, 19])
    expect(conversation.page(20, 5)).toEqual([])
    expect(conversation.page(0, 0)).toEqual([])
  })

  test('finds words whatever their case, also the names of tools, the first ones up to the limit', () => {
    expect(conversation.find('CHECKPOINT', 10)).toEqual({
      found: [{ item: 4, snippet: 'Bash Exit code 2\nError: checkpoint refused' }],
      isComplete: true,
    })
    expect(conversation.find('askuser', 10).found.map(({ item }) => item)).toEqual([1, 2])
    expect(conversation.find('bash', 2)).toMatchObject({ found: [{ item: 3 }, { item: 4 }], isComplete: false })
    expect(conversation.find('bash', 6).isComplete).toBe(true)
    expect(conversation.find('  ', 10)).toEqual({ found: [], isComplete: true })
  })

  test('cuts a long text in a page and has it whole by itself', () => {
    const long = 'x'.repeat(3_001)
    const { conversation } = viewOf(session().user(long).assistant('Done.').text)
    expect(conversation.page(0, 1)[0]?.blocks[0]).toMatchObject({ isCut: true, length: 3_001, text: long.slice(1) })
    expect(conversation.whole(0)?.blocks[0]).toMatchObject({ isCut: false, text: long })
    expect(conversation.whole(2)).toBeUndefined()
  })

  test('shows the lines of a sub-agent only in a file that has nothing else', () => {
    const own = { fields: { isSidechain: true, agentId: 'a1' } }
    const side = session().user('Look.', own).assistant('I looked.', own).text
    expect(viewOf(side).conversation.count).toBe(2)
    const main = session().user('Go.').assistant('Gone.').text
    expect(viewOf(main + side.replaceAll('"uuid":"', '"uuid":"s')).conversation.count).toBe(2)
  })
})

describe('the window over time', () => {
  const plan = clientStyles.flatMap((style) => keptLayouts.map((kept) => ({ style, kept })))

  test.each(plan)('bands add up to what was reported at every answer ($style, kept: $kept)', ({ style, kept }) => {
    const text = generateSession({ seed: 7, style, kept, turns: 24, boundaries: 2, microcompact: true, images: true })
    const view = viewOf(text)
    const data = view.window()
    expect(data.totals.length).toBeGreaterThan(10)
    for (const [point, total] of data.totals.entries()) {
      expect(bands.reduce((sum, band) => sum + (data.bands[band][point] ?? Number.NaN), 0)).toBe(total)
    }
    expect([data.items, data.times, data.cleared].map(({ length }) => length)).toEqual(
      Array(3).fill(data.totals.length),
    )
  })

  test('the last point says what `everlong context` says', () => {
    for (const seed of [1, 2, 3, 4]) {
      const view = viewOf(generateSession({ seed, turns: 20, boundaries: 1, parallel: 0.5, interrupted: 0.2 }))
      const gauge = view.data().gauge
      const last = view.window().totals.length - 1
      const { kinds } = breakdown({
        messages: view.transcript.view.sources.flatMap(({ pieces }) => pieces),
        size: { tokens: view.window().totals[last] ?? 0, reported: 0, estimated: 0, source: 'usage' },
      })
      const thinking = kinds.find(({ kind }) => kind === 'thinking')?.tokens ?? 0
      expect(gauge?.size.reported).toBe(view.window().totals[last])
      expect(view.window().bands.thinking[last]).toBeCloseTo(thinking, -1)
    }
  })

  test('a message that continues from an earlier one leaves out what it left', () => {
    const long = 'word '.repeat(8_000)
    const tokens = { cacheRead: 30_000, output: 10 }
    const made = session().user('First.').assistant('One.', { tokens }).user(long).assistant('Two.', { tokens })
    const text = made.user('Again.', { parent: 'a1' }).assistant('Three.', { tokens }).text
    const { user } = viewOf(text).window().bands
    expect(user[1]).toBeGreaterThan(5_000)
    expect(user[2]).toBeLessThan(100)
  })

  test('records that no model sees change nothing, wherever the next message continues from', () => {
    const tokens = { cacheRead: 30_000, output: 10 }
    const plain = session().user('First.').assistant('One.', { tokens }).user('Second.').assistant('Two.', { tokens })
    const records = plain.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const [first, one, second, two] = records
    const hook = { type: 'system', subtype: 'hook', uuid: 'hook', parentUuid: one.uuid, content: 'done' }
    const progress = { type: 'progress', uuid: 'progress', parentUuid: 'hook' }
    const between = viewOf([first, one, hook, progress, { ...second, parentUuid: 'progress' }, two]).window()
    expect(between.bands).toEqual(viewOf(records).window().bands)
  })

  test('an answer in several lines is one point, with its last line', () => {
    const made = session()
      .user('Think.')
      .assistant([thinkingBlock('Hm.')], { messageId: 'm', tokens: { input: 100, output: 5 } })
    const { items, totals } = viewOf(
      made.assistant('Done.', { messageId: 'm', tokens: { input: 100, output: 9 } }).text,
    ).window()
    expect([items, totals]).toEqual([[2], [109]])
  })
})

describe('cache misses', () => {
  const hour = 3_600_000
  const at = (time: number) => ({ fields: { timestamp: new Date(time).toISOString() } })
  const answers = (second: { readonly time: number; readonly cacheRead: number; readonly model?: string }) => {
    const made = session()
      .user('One.', at(0))
      .assistant('1', { ...at(1), tokens: { cacheRead: 50_000, cacheWrite: 100, output: 1 } })
      .user('Two.', at(2))
    const { time, cacheRead, model } = second
    const own = model === undefined ? {} : { model }
    return viewOf(
      made.assistant('2', { ...at(time), ...own, tokens: { cacheRead, cacheWrite: 50_000, output: 1 } }).text,
    ).window()
  }

  test('names the reason and the price, and the pause', () => {
    const { misses, gaps } = answers({ time: hour + 1, cacheRead: 0 })
    expect(misses).toMatchObject([{ point: 1, tokens: 50_100, reasons: ['the cache expired after 5 minutes'] }])
    expect(misses[0]?.cost).toBeGreaterThan(0)
    expect(gaps).toEqual([{ point: 1, milliseconds: hour }])
  })

  test('another model is a reason; a hit is no miss', () => {
    expect(answers({ time: 10, cacheRead: 0, model: 'claude-opus-4-5' }).misses[0]?.reasons[0]).toContain(
      'the model changed',
    )
    expect(answers({ time: 10, cacheRead: 49_999 })).toMatchObject({ misses: [], gaps: [] })
  })

  test('after a compaction nothing is expected of the cache', () => {
    const { misses } = viewOf(lossySession()).window()
    expect(misses).toEqual([])
  })
})

test.each([
  ['word '.repeat(40).trim(), 'word '.repeat(40).trim()],
  ['word '.repeat(41).trim(), `${'word '.repeat(40).trim()}…`],
  ['word'.repeat(51), `${'word'.repeat(50).slice(0, 199)}…`],
])('a title that is too long ends between two words where it can, and says so (%#)', (said, title) => {
  expect(viewOf(session().user(said).assistant('Yes.').text).data().row.facts?.title).toBe(title)
})
