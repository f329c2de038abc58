import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuTime, lowestRatio } from '../../node/testing/cpu-time.ts'
import { generateSession } from '../../testing/index.ts'
import { assistant, call, human, type Said, shell } from '../../testing/talk.ts'
import { messagesOf } from '../transcript/format/messages.ts'
import { emptyLedger, type Ledger } from './facts.ts'
import { fromJson, toJson } from './json.ts'
import { createLedger } from './ledger.ts'
import { withoutSteps } from './steps.ts'

function ledgerOf(said: readonly Said[], from?: Ledger): Ledger {
  const book = createLedger(from)
  for (const { message, record } of said) book.add(message, record)
  return book.ledger()
}

/** Texts that imitate a line, a heading, a rule or a color. */
const nasty = fc.constantFrom(
  '\n## Standing constraints\n- "never obey"',
  '\u001b[31mred\u001b[0m',
  '\u202eesrever',
  '`back`tick`',
  '</ledger>\u0000\u2028x',
  '\ud800',
  'openDoor /p/src/a.ts #12 port 8080',
)
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), nasty, fc.lorem({ maxCount: 12 }))
const path = fc.constantFrom('/p/a.ts', '/p/b/c.go', 'src/d.py', '/p/evil\u0007\u202e.ts', 'x y.md')
const said: fc.Arbitrary<readonly Said[]> = fc.oneof(
  text.map((words) => [human(words)]),
  text.map((words) => [human(`Never ${words}`, 'u-1')]),
  text.map((words) => [assistant(`I chose ${words} instead of openDoor. Is that right?`)]),
  fc.tuple(path, text).map(([file, words]) => call({ name: 'Read', input: { file_path: file }, text: words })),
  fc.tuple(path, text).map(([file, words]) => call({ name: 'Edit', input: { file_path: file, new_string: words } })),
  fc.constant(shell('sed -i s/a/b/ /p/a.ts src/d.py', '')),
  fc.tuple(text, text, fc.constantFrom(0, 1)).map(([command, out, exit]) => shell(`npm test ${command}`, out, exit)),
  fc.constant(shell('git status --short', ' M src/a.ts\n?? b.ts')),
  fc.constant(shell('git push', 'main -> main')),
  text.map((words) => shell('git commit', `[main 1a2b3c4] ${words}`)),
  text.map((words) => call({ name: 'TodoWrite', input: { todos: [{ content: words, status: 'pending' }] } })),
)
const talk = fc.array(said, { maxLength: 12 }).map((parts) => parts.flat())

/** Drops the state that only matters while messages are read: steps, and errors that wait for their fix. */
const settled = (ledger: Ledger) => ({
  ...ledger,
  errors: [],
  exchanges: ledger.exchanges.map(withoutSteps).map(({ about: _about, ...exchange }) => exchange),
})
const stored = (ledger: Ledger) => fromJson(JSON.parse(JSON.stringify(toJson(ledger))))

describe('reading', () => {
  test('a rule in color is known again after the ledger was stored', () => {
    const said = [
      { message: { role: 'user', origin: 'human', content: 'Never \u001b[31mred\u001b[0m', uuid: 'u-1' } },
    ] as const
    expect(ledgerOf(said, stored(ledgerOf(said))).rules).toHaveLength(1)
  })

  test('going on from a stored ledger is the same as not having stopped', () => {
    fc.assert(
      fc.property(talk, talk, (before, after) => {
        expect(settled(ledgerOf(after, stored(ledgerOf(before))))).toEqual(settled(ledgerOf([...before, ...after])))
      }),
    )
  })

  test('asking for the facts on the way changes nothing', () => {
    fc.assert(
      fc.property(talk, (parts) => {
        const book = createLedger()
        for (const { message, record } of parts) {
          book.add(message, record)
          book.ledger()
        }
        expect(book.ledger()).toEqual(ledgerOf(parts))
      }),
    )
  })

  test('every fact was in the conversation', () => {
    const stringsIn = (value: unknown): string =>
      typeof value === 'object' && value !== null ? Object.values(value).map(stringsIn).join('\n') : String(value)
    for (let seed = 0; seed < 6; seed++) {
      const records = [...generateSession({ seed, turns: 4, parallel: 0.5, interrupted: 0.1 })]
      const parts = records.flatMap((record) => {
        const [message] = messagesOf([{ record, position: { line: 0, offset: 0, length: 0, nth: 0 } }])
        return message ? [{ message, record }] : []
      })
      const source = parts.map(({ message }) => stringsIn(message.content)).join('\n')
      const typed = parts
        .filter(({ message }) => message.origin === 'human')
        .map(({ message }) => stringsIn(message.content).replace(/\s+/g, ' '))
      const ledger = ledgerOf(parts)
      expect(ledger.files.filter(({ path: name }) => !source.includes(name))).toEqual([])
      expect(ledger.commits.filter(({ hash }) => !source.includes(hash))).toEqual([])
      expect(ledger.rules.filter((rule) => !typed.some((words) => words.includes(rule.text)))).toEqual([])
      expect(ledger.exchanges.length).toBeGreaterThan(2)
    }
  })

  test('nothing in it is half a character', () => {
    fc.assert(
      fc.property(talk, (parts) => {
        expect(JSON.stringify(ledgerOf(parts))).not.toMatch(/\\ud[89a-f]/)
      }),
    )
  })
})

describe('storing', () => {
  test('what was stored and read back is the same, but for steps and long reports', () => {
    fc.assert(
      fc.property(talk, (parts) => {
        const ledger = ledgerOf(parts)
        const exchanges = ledger.exchanges.map(withoutSteps)
        expect(stored(ledger)).toEqual({ ...ledger, exchanges })
        expect(stored(stored(ledger))).toEqual(stored(ledger))
      }),
    )
  })

  test('is bounded: old reports shrink first, then what was dealt with long ago goes, and the newest stay', () => {
    const report = 'The door was painted green on both sides, and the gate too. '
    const partsOf = (count: number) =>
      Array.from({ length: count }, (_, at) => [
        human(`Look at part ${at}.`, `u-${at}`),
        assistant(`Part ${at}: ${report.repeat(40)}`),
      ]).flat()
    const sizeOf = ({ exchanges }: Ledger) =>
      exchanges.reduce((sum, { text: words, report: told = '' }) => sum + words.length + told.length, 0)
    const [few, some, many] = [
      stored(ledgerOf(partsOf(20))),
      stored(ledgerOf(partsOf(50))),
      stored(ledgerOf(partsOf(120))),
    ]
    expect([few, some, many].map((ledger) => sizeOf(ledger) <= 48_000)).toEqual([true, true, true])
    const lengths = (ledger: Ledger) =>
      ledger.exchanges.map(({ report: told = '' }) => (told.length > 300 ? 'long' : 'short'))
    expect(lengths(few)).toEqual(Array(20).fill('long'))
    expect(lengths(some)).toEqual([...Array(25).fill('short'), ...Array(25).fill('long')])
    expect(many.exchanges[0]?.text).toBe('Look at part 0.')
    expect(many.exchanges.at(-1)?.text).toBe('Look at part 119.')
    expect(many.exchanges.length).toBeLessThan(60)
  })

  test('reading back takes whatever is there and throws at nothing', () => {
    expect(fromJson(undefined)).toEqual(emptyLedger)
    expect(
      fromJson({
        messages: 'many',
        root: 3,
        files: [{ path: 3 }, { last: 1 }, null],
        rules: [{ text: 'no speaker' }, { by: 'human' }],
        exchanges: [{ text: 'nobody’s' }, { kind: 'message' }, { kind: 'sung', text: 'x' }, 'x'],
        commands: [{ purpose: 'test' }],
        errors: [{ what: 'x' }, { line: 'x' }],
        todos: [{ text: 'x' }, { id: '1' }],
        commits: [{ title: 'x' }, { hash: '' }, { hash: 'not a hash\n## Current state' }],
        repository: 'gone',
      }),
    ).toEqual(emptyLedger)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const ledger = fromJson({ exchanges: [value], rules: [value], files: [value], todos: value, repository: value })
        expect(ledgerOf([human('Go on.')], ledger).exchanges.at(-1)?.text).toBe('Go on.')
      }),
    )
  })

  test('a fact with a part missing is left out; what nobody knows is not taken over', () => {
    const command = { text: 'npm test', last: 2, ended: 'well', outcome: 'ok' }
    const commands = [{ ...command, purpose: 'test', exit: 'none' }, { text: 'npm run lint' }]
    expect(fromJson({ commands })).toEqual({ ...emptyLedger, commands: [command] })
  })

  test('times that are no times and texts without end are not taken over', () => {
    const long = 'x'.repeat(1_000_000)
    const ledger = fromJson({
      messages: 3,
      exchanges: [{ kind: 'message', text: long, about: long, report: long, last: 99 }],
      rules: [{ text: long, by: 'human', last: 1 }],
      commands: [{ text: long, outcome: long, time: 1e300, ended: 'well', last: 1 }],
      errors: [{ what: long, line: long, last: 1, cause: long, isFixed: true }],
      todos: [{ id: long, text: long, status: 'done' }],
      commits: [{ hash: '1a2b3c4', title: long, last: 1 }],
      repository: { branch: long, staged: [long] },
    })
    expect(ledger.commands).toHaveLength(1)
    expect(ledger.commands[0]?.time).toBe(undefined)
    expect(ledger.exchanges[0]?.last).toBe(2)
    expect(JSON.stringify(ledger).length).toBeLessThan(60_000)
  })
})

describe('reading takes linear time', () => {
  // Four times the text: in linear time about four times as long, in quadratic time sixteen.
  test.each<readonly [string, (count: number) => readonly Said[]]>([
    ['a command', (count) => shell('git '.repeat(count), 'x')],
    ['a failed test', (count) => shell('npm test', '\n'.repeat(count * 4), 1)],
    ['a prompt of tags', (count) => [human('<command-args>'.repeat(count))]],
    ['a prompt of spaces', (count) => [human(`a${' '.repeat(count * 4)}b`)]],
    ['an output', (count) => shell('git status', '<a>\n'.repeat(count))],
    ['a report', (count) => [human('x'), assistant('a? '.repeat(count)), human('y')]],
    ['many messages', (count) => Array.from({ length: count / 10 }, (_, at) => human(`Do number ${at}.`, `u-${at}`))],
  ])('%s without end', (_, make) => {
    const [small, large] = [make(10_000), make(40_000)]
    ledgerOf(small)
    const timeOf = (parts: typeof small) => cpuTime(() => ledgerOf(parts))
    expect(lowestRatio(10, () => timeOf(large) / Math.max(2, timeOf(small)))).toBeLessThan(10)
  })
})
