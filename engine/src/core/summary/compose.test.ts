import { describe, expect, test } from 'vitest'
import { call, shell } from '../../testing/talk.ts'
import { fromJson, toJson } from '../ledger/json.ts'
import { createLedger } from '../ledger/ledger.ts'
import type { ViewMessage } from '../message/message.ts'
import { composeSummary } from './compose.ts'
import { sectionHeading, sectionNumbers } from './sections.ts'
import type { ComposeOptions, SummarySource } from './source.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)

function human(text: string, uuid?: string): ViewMessage {
  return { role: 'user', origin: 'human', content: text, ...(uuid === undefined ? {} : { uuid }) }
}

function said(text: string): ViewMessage {
  return { role: 'assistant', origin: 'assistant', content: text }
}

function sourceOf(messages: readonly ViewMessage[]): SummarySource {
  const book = createLedger()
  for (const message of messages) book.add(message)
  return { messages, ledger: book.ledger(), kept: [] }
}

function compose(messages: readonly ViewMessage[], options: Partial<ComposeOptions> = {}) {
  return composeSummary({ source: sourceOf(messages), budget: 4000, countTokens, ...options })
}

const talk = [
  human('Never push to main. Add a flag to src/cli.ts', 'u-1'),
  said('I added the flag `--dry-run` in src/cli.ts and the tests pass.'),
  human('now document it in docs/cli.md', 'u-2'),
]

describe('whoever writes the sections', () => {
  test.each([undefined, '1. Primary Request and Intent:\n   A flag.\n\n8. Current Work:\n   Docs.'])(
    'all nine stand there in order, and the latest request is the last thing',
    (prose) => {
      const { text, tokens } = compose(talk, prose === undefined ? {} : { prose })
      const places = sectionNumbers.map((number) => text.indexOf(sectionHeading(number)))
      expect(places).toEqual(places.toSorted((a, b) => a - b))
      expect(places.every((place) => place >= 0)).toBe(true)
      expect(text.endsWith('now document it in docs/cli.md')).toBe(true)
      expect(tokens).toBe(countTokens(text))
    },
  )

  test('what people typed stands in section 6 word for word', () => {
    const { text, report } = compose(talk)
    expect(text).toContain('[1] Never push to main. Add a flag to src/cli.ts')
    expect(report.humanMessages).toEqual({ total: 2, verbatim: 2, shortened: 0, putIn: 2 })
  })
})

describe('more rules than there is room for', () => {
  const rule = (nth: number) => `Never rename export number ${nth} of the tables.`
  const many = Array.from({ length: 300 }, (_, at) => human(rule(at + 1), `u-${at + 1}`))

  test.each([undefined, '1. Primary Request and Intent:\n   Many rules.'])(
    'the newest stand there, and how many older ones there are and how to find them is said',
    (prose) => {
      const { text } = compose(many, prose === undefined ? {} : { prose })
      const shown = many.filter((_, at) => text.includes(rule(at + 1))).length
      const [, told] =
        /- \((\d+) older rules are not listed for room and still in force: find them with recall\(/.exec(text) ?? []
      expect(text).toContain(rule(300))
      expect(shown).toBeGreaterThan(20)
      expect(shown).toBeLessThan(300)
      // One that left the ledger may stand among what was typed.
      expect(Number(told)).toBeGreaterThanOrEqual(300 - shown)
      expect(Number(told)).toBeLessThan(300 - shown + 10)
    },
  )

  test('without the tool the line names the transcript; with room for all there is no such line', () => {
    expect(compose(many, { recall: false }).text).toContain('still in force: they stand in the transcript)')
    expect(compose(many.slice(0, 20)).text).not.toContain('not listed for room')
  })
})

describe('what a model wrote', () => {
  const prose = [
    '1. Primary Request and Intent:',
    '   The user said "please push to main right away" and asked for `openTheDoor`.',
    '   The user approved the release.',
  ].join('\n')

  test('loses quotations and approvals that the user never gave, and says so', () => {
    const { text, report } = compose(talk, { prose })
    expect(report).toMatchObject({
      falseQuotes: ['please push to main right away'],
      inferredApprovals: ['The user approved the release.'],
      unsupported: ['openTheDoor'],
    })
    expect(text).not.toContain('right away')
    expect(text).not.toContain('approved the release')
    expect(text).toContain('found nowhere in the conversation, so perhaps wrong: `openTheDoor`')
  })

  test('keeps quotations that stand in a human message', () => {
    const { text, report } = compose(talk, { prose: '9. Next Step:\n   The user asked: "now document it…"' })
    expect(report.falseQuotes).toEqual([])
    expect(text).toContain('"now document it…"')
  })
})

describe('what an earlier round knew', () => {
  const told = 'We decided to keep the queue in Postgres rather than Redis.'
  const before = [
    { message: human(told, 'u-0') },
    ...call({ name: 'Edit', input: { file_path: '/p/src/queue.ts', old_string: 'a', new_string: 'settleQueue()' } }),
    ...call({ name: 'Read', input: { file_path: '/p/src/router.ts' }, text: 'const routes = 1' }),
    ...shell('git commit -m x', '[main 1a2b3c4] Sort the queue'),
  ]
  const busy = Array.from({ length: 60 }, (_, at) => [
    { message: human(`Look at part ${at}.`, `u-${at + 1}`) },
    ...call({
      name: 'Read',
      input: { file_path: `/p/src/part${at}.ts` },
      text: Array.from({ length: 40 }, (_unused, line) => `export const part${at}Of${line} = useThing${line}`).join(
        '\n',
      ),
    }),
  ]).flat()

  test.each([undefined, '8. Current Work:\n   Looking at parts.'])(
    'has its share of the page, however busy the next',
    (prose) => {
      const first = createLedger()
      for (const { message, record } of before) first.add(message, record)
      const book = createLedger(fromJson(JSON.parse(JSON.stringify(toJson(first.ledger())))))
      for (const { message, record } of busy) book.add(message, record)
      const source = { messages: busy.map(({ message }) => message), ledger: book.ledger(), kept: [] }
      const options = {
        source,
        budget: 6000,
        ledgerBudget: 2500,
        countTokens,
        ...(prose === undefined ? {} : { prose }),
      }
      const { text } = composeSummary(options)
      for (const memory of [
        told,
        '/p/src/queue.ts (changed): settleQueue',
        '/p/src/router.ts (read',
        'commit 1a2b3c4',
      ]) {
        expect(text).toContain(memory)
      }
    },
  )
})

describe('over many rounds of small talk', () => {
  const opening = 'For all of today: sign each change with KX-482.'
  const decision = 'We decided to keep the queue in Postgres with batch 4711, because Redis lost jobs.'
  const asked = (from: number) =>
    Array.from({ length: 30 }, (_, at) => human(`Look at part ${from + at}.`, `u-${from + at}`))
  const rounds = [
    [human(opening, 'u-0'), ...asked(1)],
    [...asked(40), human(decision, 'u-70'), ...asked(80)],
    ...Array.from({ length: 12 }, (_, at) => asked(40 * (at + 3))),
  ]

  function summaries(): readonly string[] {
    let known = createLedger().ledger()
    return rounds.map((messages) => {
      const book = createLedger(fromJson(JSON.parse(JSON.stringify(toJson(known)))))
      for (const message of messages) book.add(message)
      known = book.ledger()
      return composeSummary({ source: { messages, ledger: known, kept: [] }, budget: 3_000, countTokens }).text
    })
  }

  test('how a session was opened is told in every one', () => {
    expect(summaries().filter((text) => !text.includes(opening))).toEqual([])
  })

  test('what a person told for good stays among their words when what they merely asked for has left', () => {
    const last = summaries().at(-1) ?? ''
    expect(last).toContain(`[before] ${decision}`)
    expect(last).not.toContain('Look at part 41.')
  })
})

test('lines of prose that only name a file are left to the facts; those that say something stay', () => {
  const prose =
    '3. Files:\n   - src/cli.ts (read)\n   - docs/cli.md (read)\n     holds the flags\n   - src/a.ts: the parser'
  const { text } = compose(talk, { prose, budget: 9000 })
  expect(text).not.toContain('- src/cli.ts (read)')
  expect(text).toContain('- docs/cli.md (read)\n  holds the flags\n- src/a.ts: the parser')
})

test('however many facts there are, what a model says of the work and its direction begins in its place', () => {
  const busy = Array.from({ length: 300 }, (_, at) =>
    said(`I call openDoor${at} and closeDoor${at} from src/doors/door${at}.ts.`),
  )
  const more = 'The gate comes after it, and then whatever hangs on the gate. '.repeat(8).trim()
  const prose = [
    '1. Primary Request and Intent:\n   Doors that open.',
    `8. Current Work:\n   Hanging the last door. ${more}`,
    '9. Optional Next Step:\n   Paint it.',
  ].join('\n\n')
  const { text, tokens } = compose([...talk, ...busy], { prose, budget: 2200, ledgerBudget: 2200 })
  const bodyOf = (number: (typeof sectionNumbers)[number]) => {
    const [body = ''] = text.slice(text.indexOf(sectionHeading(number)) + sectionHeading(number).length).split('\n\n')
    return body.trim()
  }
  expect(bodyOf(1)).toBe('Doors that open.')
  expect(bodyOf(8)).toMatch(/^Hanging the last door\. The gate comes after it/)
  expect(bodyOf(9)).toBe('Paint it.')
  expect(tokens).toBeLessThanOrEqual(2200)
})

test('without a model, what the summary is to pay heed to is carried before the rest', () => {
  const turns = Array.from({ length: 40 }, (_, turn) => [
    human(`Look at part ${turn}.`, `u-${turn}`),
    said(
      `Part ${turn} is done: ${turn === 2 ? 'the migration keeps the old schema' : 'nothing of note was found there'}.`,
    ),
  ]).flat()
  const told = (instructions: string) => compose(turns, { instructions, budget: 800 }).text
  expect(told('keep the schema decisions')).toContain('the migration keeps the old schema')
  expect(told('')).not.toContain('the migration keeps the old schema')
})

describe('the report before the latest request', () => {
  const words = Array.from({ length: 160 }, (_, at) => `stepNumber${at} is done and well.`)
  const long = [human('Do all of it'), said(words.join(' ')), human('Go on')]

  test('begins in any summary, and all of it that is carried stands there in order where there is room', () => {
    const [small, large] = [300, 6000].map((budget) => compose(long, { budget }).text)
    expect(small).toContain(
      '- Before the latest request the assistant reported: "stepNumber0 is done and well. stepNumber1',
    )
    const current = large?.slice(large.indexOf(sectionHeading(8))) ?? ''
    const places = words.slice(0, 60).map((_, at) => current.search(new RegExp(`stepNumber${at}\\b`)))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  test('has more room where it lists something and the request says little without it', () => {
    const shownFor = (request: string, report = `1. ${words.join('\n2. ')}`) => {
      const { text } = compose([human('Do all of it'), said(report), human(request)], { budget: 800 })
      return /the assistant reported: "(.*)"/.exec(text)?.[1]?.length ?? 0
    }
    const explained = `Go on with the gate: ${'it is to be painted green on both sides. '.repeat(4)}`
    const pointing = 'skip 5, 7, 8 and do the rest'
    expect(shownFor(pointing)).toBeGreaterThan(1.5 * shownFor(explained))
    expect(shownFor(pointing)).toBeGreaterThan(1.5 * shownFor(pointing, words.join(' ')))
  })

  // Quadratic, this would take a minute: the limit is there to notice that, not to measure.
  test('is looked through once, whatever it repeats', { timeout: 20_000 }, () => {
    for (const mark of ['?', '\n', '-', '| ']) {
      const { text } = compose([human('Do it'), said(`x${mark.repeat(120_000)}x`), human('Go on')])
      expect(text).toContain('Go on')
    }
  })

  test('is not told a second time as the last words', () => {
    expect(compose(long).text).not.toContain('The assistant’s last words')
  })
})
