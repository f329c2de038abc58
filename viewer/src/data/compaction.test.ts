import { generateSession, keptLayouts, session } from 'everlong/internal/testing'
import { describe, expect, test } from 'vitest'
import { lossySession, viewOf } from '../testing/sessions.ts'
import { momentOf } from './moment.ts'
import { createSourceFinder } from './sources.ts'
import { sentencesIn, summaryLines } from './summary-lines.ts'

describe('one compaction', () => {
  const view = viewOf(lossySession())
  const data = view.compaction(1)

  test('what went in and what came out', () => {
    expect(data?.before.items).toEqual(Array.from({ length: 15 }, (_, at) => at))
    expect(data?.after.items).toEqual([16, 17])
    expect(data?.before.tokens).toBeGreaterThan(data?.after.tokens ?? 0)
    expect(data?.restored).toMatchObject([{ item: 17, kind: 'file' }])
  })

  test('each sentence has its source, or none, and its doubts', () => {
    const sentences = data?.summary.flatMap(({ sentences }) => sentences) ?? []
    const of = (part: string) => sentences.find(({ text }) => text.includes(part))
    expect(of('12 rows')?.sources?.[0]).toMatchObject({ item: 7 })
    expect(of('12 rows')?.doubts).toEqual([])
    expect(of('staging bucket')).toMatchObject({ sources: [], doubts: ['approval'] })
    expect(of('Work')).toMatchObject({ sources: null })
    expect(data?.doubts).toEqual([{ type: 'approval', text: 'The user approved deleting the staging bucket.' }])
  })

  test('the words of the user, found or not', () => {
    expect(data?.words.map(({ item, found }) => [item, found])).toEqual([
      [0, 'missing'],
      [13, 'missing'],
    ])
  })

  test('what is gone, most harmful first, as the list of the whole session says', () => {
    expect(data?.gone.map(({ type }) => type)).toEqual([
      'rule',
      'rule',
      'decision',
      'request',
      'failure',
      'command',
      'file',
    ])
    expect(data?.gone.map(({ isSettled: _, ...fact }) => fact)).toEqual(view.lost().facts)
  })

  test('what the user said again later is marked as settled, and is not in the list of the session', () => {
    const again = viewOf(`${lossySession()}${lineOf('Never drop the table orders_2019.')}`)
    const gone = again.compaction(1)?.gone ?? []
    expect(gone.filter(({ isSettled }) => isSettled).map(({ text }) => text)).toEqual([
      'Never drop the table orders_2019.',
    ])
    expect(again.lost().facts).toHaveLength(gone.length - 1)
  })

  test('what Everlong would have left has all words of the user', async () => {
    const alternative = await view.alternative(1)
    expect(alternative).toMatchObject({ type: 'compacted', words: { all: 2, here: 2, recorded: 0 } })
  })

  test('there is no compaction 0, 2 or -1', async () => {
    expect([0, 2, -1].map((number) => view.compaction(number))).toEqual([undefined, undefined, undefined])
    expect(await view.alternative(2)).toBeUndefined()
  })
})

function lineOf(text: string): string {
  const [line = ''] = session().user('x', { uuid: 'later', parent: 'a10' }).text.split('\n')
  return `${line.replace('"x"', JSON.stringify(text))}\n`
}

describe('where a compaction ends', () => {
  test.each(keptLayouts)('kept messages belong to it (kept: %s)', (kept) => {
    const view = viewOf(generateSession({ seed: 3, turns: 12, boundaries: 1, kept }))
    const [row] = view.data().compactions
    const { entries } = view.transcript
    const { start, end } = momentOf(entries, row ?? { uuid: '', line: 0 })
    expect(entries[start]?.record.uuid).toBe(row?.uuid)
    expect(entries[start + 1]?.record.isCompactSummary).toBe(true)
    expect(entries[end]?.record.type).toMatch(/user|assistant/)
    expect(view.compaction(1)?.after.items.length).toBeGreaterThanOrEqual(1 + (row?.kept ?? 0))
  })

  test('a boundary that is not there begins and ends after everything', () => {
    expect(momentOf([], { uuid: 'x', line: 1 })).toEqual({ start: 0, end: 0 })
  })
})

describe('sources', () => {
  const find = createSourceFinder([
    { item: 4, text: 'The migration of orders_2019 failed because the checksum was wrong.' },
    { item: 7, text: `${'filler '.repeat(400)} The cache key lacked the tenant, so two tenants shared entries.` },
  ])

  test('a sentence is found by most of its words, also far into a long text', () => {
    expect(find('The orders_2019 migration failed: wrong checksum.')).toMatchObject([{ item: 4, share: 1 }])
    expect(find('Two tenants shared entries because the cache key lacked the tenant.')).toMatchObject([{ item: 7 }])
    expect(find('Two tenants shared entries because the cache key lacked the tenant.')?.[0]?.snippet).toContain(
      'cache key',
    )
  })

  test('with less than six tenths of its words it is not', () => {
    expect(find('The migration of invoices succeeded after lunch yesterday.')).toEqual([])
  })

  test('too few words say nothing', () => {
    expect(find('Go on.')).toBeNull()
    expect(createSourceFinder([])('The migration of orders failed.')).toEqual([])
  })
})

describe('lines of a summary', () => {
  const none = { doubts: [], sourcesOf: () => [] }

  test('joined, the sentences are the text again, whatever it contains', () => {
    const text = '# One\n\n- **A**: b. C d! “E f?” G.\n```ts\nconst a = 1. B\n```\n 1.5 is a number. \n'
    const lines = summaryLines(text, none)
    expect(lines.map(({ sentences }) => sentences.map(({ text }) => text).join('')).join('\n')).toBe(text)
    expect(lines.map(({ isHeading }) => isHeading)).toEqual([true, ...Array(7).fill(false)])
    expect(lines[4]?.sentences).toHaveLength(1)
  })

  test('sentences end at a mark before a capital', () => {
    expect(sentencesIn('It failed at 1.5 s. Then it worked (v. 2). Done')).toEqual([
      'It failed at 1.5 s. ',
      'Then it worked (v. ',
      '2). ',
      'Done',
    ])
  })
})

test.each([
  [3, 5, 1],
  [2, 5, 0],
  [6, 10, 1],
  [5, 10, 0],
])('a passage with %i of the %i words of a sentence is %i source: 60 percent are enough', (found, all, sources) => {
  const names = ['heron', 'crane', 'stork', 'robin', 'finch', 'raven', 'swift', 'eagle', 'goose', 'snipe'].slice(0, all)
  const finder = createSourceFinder([{ item: 1, text: names.slice(0, found).join(' ') }])
  expect(finder(names.join(' '))).toHaveLength(sources)
})

test('a price that the transcript states is no estimate', () => {
  const stated = lossySession().replace(
    '"subtype":"compact_boundary"',
    '"subtype":"compact_boundary","everlong":{"compaction":{"cost":0.5,"model":"m"}}',
  )
  const recorded = viewOf(stated).compaction(1)?.price
  const estimated = viewOf(lossySession()).compaction(1)?.price
  expect(recorded).toMatchObject({ isEstimated: false, asking: 0.5, model: 'm' })
  expect(estimated?.isEstimated).toBe(true)
})
