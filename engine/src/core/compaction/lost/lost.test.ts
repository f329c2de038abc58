import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generateCodexRollout, generatePiSession, generateTalk, talkFormats } from '../../../testing/index.ts'
import { type SessionBuilder, session } from '../../../testing/records.ts'
import { generateWithTruth } from '../../../testing/sessions/session.ts'
import type { JsonObject } from '../../message/json.ts'
import { editRecord } from '../../transcript/format/edits.ts'
import type { Entry } from '../../transcript/format/entry.ts'
import { createTranscriptReader } from '../../transcript/format/reader.ts'
import { lostTypes } from './candidates.ts'
import { topicOf } from './contexts.ts'
import { lostIn } from './lost.ts'

const entriesOf = (records: readonly JsonObject[]): readonly Entry[] => {
  const reader = createTranscriptReader()
  return records.flatMap((record, at) => reader.read(record, { line: at + 1, offset: at, length: 1, nth: 0 }))
}
const lostFrom = (talk: SessionBuilder) => lostIn(entriesOf(talk.records))
const texts = (talk: SessionBuilder) => lostFrom(talk).facts.map(({ type, text }) => `${type}: ${text}`)

const rule = 'Never drop the table orders_2019.'
const begun = () => session().user(rule).assistant('Understood.').user('List the files.').assistant('There are three.')
const dry = '1. The files were listed: there are three.'

test('claims of the last summary that the conversation does not support are unverified', () => {
  const claims = [
    '- The user said "list them by size".',
    '- The user approved the deployment to production.',
    '- See src/no/where.ts and orders_2019.',
  ]
  const talk = begun()
    .boundary()
    .summary(`${dry}\n${claims.join('\n')}`)
    .user('Go on.')
  expect(lostFrom(talk).unverified).toEqual([
    { type: 'approval', text: '- The user approved the deployment to production.' },
    { type: 'quote', text: 'list them by size' },
    { type: 'name', text: 'src/no/where.ts' },
  ])
  // Only the summary in the current context counts.
  expect(lostFrom(talk.boundary().summary(dry)).unverified).toEqual([])
})

test('the id of the session is no claim: clients name the file of the transcript in their summaries', () => {
  const own = '6a420264-c3da-4efc-bc08-be9e7b31f022'
  const named = (id: string) => `${dry}\nRead the full transcript at: /home/dev/.claude/projects/-p/${id}.jsonl`
  const claimed = (id: string) => {
    const talk = session({ sessionId: own }).user(rule).assistant('Understood.').user('List the files.')
    return lostFrom(talk.assistant('There are three.').boundary().summary(named(id)).user('Go on.')).unverified
  }
  expect(claimed(own).filter(({ text }) => own.includes(text))).toEqual([])
  expect(
    claimed('7b531375-d4eb-4efc-bc08-cf0f8c42a133')
      .map(({ text }) => text)
      .join(),
  ).toContain('7b531375')
})

test('a summary is compared with the conversation before its own compaction, not before one that was undone', () => {
  const approved = (talk: SessionBuilder) =>
    talk.assistant('Shall I deploy to production?').user('Yes, deploy it to production.').assistant('Deployed.')
  const claim = `${dry}\n- The user approved the deployment to production.`
  const undo = (talk: SessionBuilder, uuid: string) => {
    const { last, sessionId } = talk
    const at = { uuid: `undo-${uuid}`, parentUuid: last, timestamp: '2026-03-02T10:00:00.000Z', sessionId }
    return talk.raw(editRecord({ type: 'undo', uuid }, at)).from(at.uuid)
  }
  const undone = undo(begun().boundary().summary(dry), 'b1')
  expect(lostFrom(approved(undone).boundary().summary(claim).user('Go on.')).unverified).toEqual([])
  const first = begun().boundary().summary(claim)
  expect(lostFrom(undo(first, 'b1').user('Go on.')).unverified).toEqual([])
  // An approval after its compaction does not support a summary, even after other compactions and undos.
  const later = approved(begun().boundary().summary(claim)).boundary().summary(dry)
  expect(lostFrom(undo(later, 'b2').user('Go on.')).unverified).toMatchObject([{ type: 'approval' }])
})

describe('a rule', () => {
  test('that the summary drops is lost, with its place', () => {
    expect(lostFrom(begun().boundary().summary(dry).user('Go on.'))).toEqual({
      compactions: [
        {
          ...{ number: 1, uuid: 'b1', line: 5, trigger: 'auto', time: '2026-03-02T09:00:05.000Z' },
          ...{ isUndone: false, isReadable: true },
        },
      ],
      facts: [{ type: 'rule', text: rule, uuid: 'u1', line: 1, time: '2026-03-02T09:00:01.000Z', compaction: 1 }],
      unverified: [],
    })
  })

  test.each([
    ['word for word', `The user said: "${rule}"`],
    ['in another spelling', 'never DROP the table `orders_2019`!'],
    ['in other words', 'The table orders_2019 must not be dropped, ever.'],
    ['with two of its names in one line', 'Keep src/old.ts beside lib/new.ts.'],
  ])('that the summary states %s is not lost', (_, summary) => {
    const said = summary.includes('src/old.ts')
      ? 'You must duplicate whatever else gets moved, I can live with src/old.ts and lib/new.ts.'
      : rule
    const talk = session().user(said).assistant('Understood.').user('List the files.').assistant('Three.')
    expect(texts(talk.boundary().summary(`${dry}\n${summary}`))).toEqual([])
  })

  test('that is in a kept message, or said again later, is not lost', () => {
    expect(
      texts(
        begun()
          .boundary({ kept: ['u1', 'a1', 'u2', 'a2'] })
          .summary(dry),
      ),
    ).toEqual([])
    expect(texts(begun().boundary().summary(dry).user(`Again: ${rule}`))).toEqual([])
  })

  test('that the agent wrote into CLAUDE.md is not lost: every context has that file', () => {
    const noted = begun()
      .toolUse('t1', 'Edit', {
        file_path: '/home/dev/project/CLAUDE.md',
        old_string: '',
        new_string: `# Rules\n${rule}`,
      })
      .toolResult('t1', 'Updated.')
    expect(texts(noted.boundary().summary(dry))).toEqual([])
  })

  test('is lost by the compaction after which no context has it', () => {
    const twice = begun().boundary().summary(`${dry}\n${rule}`).user('Sort them.').assistant('Sorted.')
    const [fact] = lostFrom(twice.boundary().summary('1. The files were sorted.')).facts
    expect(fact).toMatchObject({ type: 'rule', uuid: 'u1', compaction: 2 })
    const once = begun().boundary().summary(dry).user('Sort them.').assistant('Sorted.')
    expect(lostFrom(once.boundary().summary('1. The files were sorted.')).facts).toMatchObject([{ compaction: 1 }])
  })

  test('that is only thought about is none', () => {
    const talk = session().user("Let's think how to enforce that branches always have a ticket.").assistant('Yes.')
    expect(texts(talk.user('List the files.').assistant('Three.').boundary().summary(dry))).toEqual([])
  })

  test('of a parent agent is marked as such', () => {
    const talk = session().sidechain('a1', (agent) => {
      agent.user(rule, { fields: { origin: { kind: 'agent' } } }).assistant('Yes.')
      agent.user('List the files.').assistant('Three.').boundary().summary(dry)
    })
    expect(lostFrom(talk).facts).toMatchObject([{ type: 'rule', text: rule, by: 'agent' }])
  })
})

test.each([
  ['list', 'lists', 'listed', 'listing'],
  ['drop', 'drops', 'dropped', 'dropping'],
  ['table', 'tables'],
  ['rename', 'renames', 'renamed', 'renaming'],
  ['class', 'classes'],
  ['build', 'builds', 'building'],
])('%s has the same stem as its other forms', (...forms) => {
  expect(new Set(forms.flatMap(topicOf)).size).toBe(1)
})

test('a word that only begins the same is another one, and "don’t" is no topic', () => {
  expect(topicOf('openspec opens')).toHaveLength(2)
  expect(topicOf('Don’t open it, don’t')).toEqual(['open'])
})

test('nothing is lost without a compaction, and nothing by one that was undone', () => {
  expect(lostFrom(begun())).toEqual({ compactions: [], facts: [], unverified: [] })
  const undo = editRecord(
    { type: 'undo', uuid: 'b1' },
    { uuid: 'e1', parentUuid: 's1', timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' },
  )
  const { compactions, facts } = lostFrom(begun().boundary().summary(dry).raw(undo))
  expect([compactions.map(({ isUndone }) => isUndone), facts]).toEqual([[true], []])
})

test('nothing is lost where the conversation went back to before the compaction', () => {
  const back = begun().boundary().summary(dry).from('a2').user('Go on.').assistant('I go on.')
  const { compactions, facts, unknown } = lostFrom(back)
  expect([compactions.map(({ isUndone }) => isUndone), facts, unknown]).toEqual([[true], [], undefined])
  const second = begun().boundary().summary(dry).user('Sort them.').assistant('Sorted.').boundary().summary('Sorted.')
  expect(lostFrom(second.from('a3').user('Go on.')).compactions.map(({ isUndone }) => isUndone)).toEqual([false, true])
})

test('what the user rewound before the compaction is taken back, not lost', () => {
  const talk = session().user('List the files.').assistant('Three.')
  const rewound = talk.user(rule).assistant('Yes.').from('a1').user('Sort them.').assistant('Sorted.')
  expect(texts(rewound.boundary().summary('1. The files were listed and sorted.'))).toEqual([])
})

describe('a decision', () => {
  const question = 'Which database should the reports use?'
  const asked = (answer: string) =>
    session()
      .user('Build the reports.')
      .toolUse('t1', 'AskUserQuestion', { questions: [{ question }] })
      .toolResult('t1', `User has answered your questions: "${question}"="${answer}".`, {
        toolUseResult: { answers: { [question]: answer } },
      })
      .assistant('Understood, I build the reports.')

  test('is lost with its question if the context does not say what was decided', () => {
    const { facts } = lostFrom(asked('ClickHouse').boundary().summary('1. Build the reports. A database was chosen.'))
    expect(facts).toMatchObject([{ type: 'decision', text: 'ClickHouse', about: question, uuid: 'r1' }])
    expect(texts(asked('ClickHouse').boundary().summary('1. Build the reports on ClickHouse.'))).toEqual([])
  })

  test('may be a rejected call or a choice, but not a yes or a question', () => {
    const refused = session()
      .user('Clean up.')
      .toolUse('t1', 'Bash', { command: 'rm -rf build/cache' })
      .toolResult(
        't1',
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nkeep the cache of the compiler",
        { isError: true },
      )
      .assistant('I leave the cache. Options: 1. docs 2. logs. Which one shall I clean?')
      .user('take 2 please')
      .assistant('Done. Shall I also compress them?')
      .user('yes')
      .assistant('Done. Shall I delete the archive?')
      .user('is it large?')
      .assistant('No.')
      .user('List the files.')
      .assistant('Three.')
    expect(texts(refused.boundary().summary(dry))).toEqual([
      'rule: keep the cache of the compiler',
      'decision: take 2 please',
    ])
  })
})

describe('a request', () => {
  const open = 'Rename the column total to amount in every report.'

  test('that was the newest, or got no reply, is lost; an older one is done', () => {
    const talk = session().user('Describe the weather module.').assistant('It reads a sensor.')
    const passed = talk.user('Also translate the labels into Danish.').user(open).assistant('I begin.')
    expect(texts(passed.boundary().summary('1. The weather module was described.'))).toEqual([
      `request: ${open}`,
      'request: Also translate the labels into Danish.',
    ])
  })

  test('of a sub-agent does not count: the newest is that of the main conversation', () => {
    const talk = session().user(open).assistant('I ask an agent.')
    talk.sidechain('a9', (agent) => agent.user('Find the reports for me.').assistant('There are two.'))
    expect(texts(talk.boundary().summary('Nothing was done yet.'))).toEqual([`request: ${open}`])
  })

  test('is not lost if the summary quotes its beginning or speaks of a part of it', () => {
    const places = 'invoices, receipts, journals, budgets, forecasts, payrolls, shipments, contracts and warranties'
    const long = `Rename the column total to amount in ${places}. Then check what the importers of the old files do with that.`
    const talk = () => session().user('Hello there, agent.').assistant('Hello.').user(long).assistant('I begin.')
    expect(texts(talk().boundary().summary('The user asked: "Rename the column total to amount…"'))).toEqual([])
    expect(texts(talk().boundary().summary('Check what importers do with the old files.'))).toEqual([])
    expect(texts(talk().boundary().summary('Nothing was done yet.'))).toHaveLength(1)
  })
})

describe('of the work that was interrupted', () => {
  const shell = (talk: SessionBuilder, command: string, [output, isError]: readonly [string, boolean?]) => {
    const id = `t${talk.records.length}`
    return talk.toolUse(id, 'Bash', { command }).toolResult(id, output, { isError: isError === true })
  }
  const edit = (talk: SessionBuilder, id: string, path: string) =>
    talk
      .toolUse(id, 'Edit', { file_path: `/home/dev/project/${path}`, old_string: 'a', new_string: 'b' })
      .toolResult(id, 'The file has been updated.')

  test('a failure is lost with what the agent found out, once it was overcome', () => {
    const talk = session().user('Run the importer.')
    shell(talk, 'make import', ['Exit code 2\nError: checkpoint refused', true])
    talk.assistant('Identifiers need exactly twelve lowercase hexadecimal characters.')
    const open = talk.records.length
    shell(talk, 'make import', ['imported 12 rows'])
    talk.assistant('It works.')
    const summary = '1. Run the importer, it works.'
    const fixed = lostFrom(talk.boundary().summary(summary)).facts.filter(({ type }) => type === 'failure')
    expect(fixed).toMatchObject([
      {
        about: 'make import',
        text: 'Error: checkpoint refused',
        cause: 'Identifiers need exactly twelve lowercase hexadecimal characters.',
      },
    ])
    const unsolved = session()
    unsolved.records.push(...talk.records.slice(0, open))
    unsolved.from('a2').boundary({ uuid: 'b9' }).summary(summary)
    expect(lostFrom(unsolved).facts.filter(({ type }) => type === 'failure')).toEqual([])
  })

  test('an edit that missed its place taught nothing', () => {
    const talk = session()
      .user('Fix it.')
      .toolUse('t1', 'Edit', { file_path: '/p/a.ts', old_string: 'x', new_string: 'y' })
    talk.toolResult('t1', 'String to replace not found in file.', { isError: true })
    talk.assistant('That line reads differently from my memory, so I look again.')
    talk.toolUse('t2', 'Edit', { file_path: '/p/a.ts', old_string: 'z', new_string: 'y' }).toolResult('t2', 'Updated.')
    expect(texts(talk.assistant('Fixed a.ts.').boundary().summary('Fix it: a.ts was fixed.'))).toEqual([])
  })

  test('files and commands of the interrupted work are lost if nothing names them, unless they were committed', () => {
    const talk = session().user('Change the engine.')
    edit(talk, 't1', 'src/committed.ts')
    shell(talk, 'git commit -am "First part"', ['[main 1234567] First part\n 1 file changed'])
    edit(talk, 't3', 'src/forgotten.ts')
    edit(talk, 't4', 'src/named.ts')
    shell(talk, 'tools/verify.sh --strict && pytest checks/deep', ['FAILED checks/deep/test_a.py', true])
    talk.assistant('One check fails.')
    const lost = lostFrom(talk.boundary().summary('Change the engine: named.ts is done.')).facts
    expect(lost.filter(({ type }) => type === 'file').map(({ text }) => text)).toEqual([
      '/home/dev/project/src/forgotten.ts',
    ])
    expect(lost.filter(({ type }) => type === 'command')).toMatchObject([
      { text: expect.stringContaining('pytest checks/deep'), about: expect.stringContaining('FAILED') },
    ])
  })
})

describe('where code cannot tell, nothing is reported, and why is said', () => {
  test('an encrypted or missing summary', () => {
    const encrypted = { type: 'compaction', encrypted_content: 'AAAA' }
    const talk = begun()
      .boundary()
      .user([encrypted], { fields: { isCompactSummary: true } })
      .assistant('I go on.')
    expect(lostFrom(talk)).toMatchObject({ facts: [], unknown: 'unreadable-summary' })
    expect(lostFrom(begun().boundary().user('Go on.'))).toMatchObject({ facts: [], unknown: 'unreadable-summary' })
  })

  test('a summary in another language, or words without spaces', () => {
    const english = '1. The user asked for a list of the files, and there are three of them.'
    const german = session().user('Bitte lösche niemals die alten Tabellen der Buchhaltung.').assistant('Klar.')
    const talk = german.user('Zeige mir alle Dateien.').assistant('Es sind drei.').boundary().summary(english)
    expect(lostFrom(talk)).toMatchObject({ facts: [], unknown: 'other-language' })
    const chinese = session().user('不要删除旧的订单表。').assistant('好的。').boundary().summary(english)
    expect(lostFrom(chinese)).toMatchObject({ facts: [], unknown: 'other-language' })
  })

  test('both in the same other language are compared', () => {
    const talk = session().user('Bitte lösche niemals die alten Tabellen der Buchhaltung.').assistant('Klar.')
    talk.user('Zeige mir alle Dateien.').assistant('Es sind drei Dateien.')
    const dropped = 'Wunsch: zeige alle Dateien. Es sind drei Dateien im Ordner.'
    expect(texts(talk.boundary().summary(dropped))).toEqual([
      'rule: Bitte lösche niemals die alten Tabellen der Buchhaltung.',
    ])
  })
})

const prompts = [
  'Never touch the folder legacy. Fix the parser.',
  'Always run the linter before you commit, please.',
  'Sort the imports of the engine.',
  'Do not rename public functions. Write the changelog.',
]

test('whatever the session: facts have their place and rank, and said again none of the words is lost', () => {
  let lost = 0
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), (seed) => {
      const entries = entriesOf(generateWithTruth({ seed, turns: 12, boundaries: 2, human: prompts }).records)
      const { facts, compactions } = lostIn(entries)
      lost += facts.length
      const ranks = facts.map(({ type }) => lostTypes.indexOf(type))
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
      for (const { uuid, line, compaction } of facts) {
        expect(entries.find(({ record }) => record.uuid === uuid)?.position.line).toBe(line)
        expect(compactions[compaction - 1]?.line).toBeGreaterThan(line)
      }
      const last = entries.findLast(({ record }) => typeof record.uuid === 'string')
      const words = facts.map(({ text, about = '' }) => `${text}\n${about}`).join('\n')
      const message = { role: 'user', content: words }
      const again = { type: 'user', uuid: 'again', parentUuid: last?.record.uuid, isSidechain: false, message }
      const rest = lostIn([...entries, { record: again, position: { line: 1e6, offset: 0, length: 1, nth: 0 } }]).facts
      expect(rest.filter(({ type }) => ['rule', 'request', 'file'].includes(type))).toEqual([])
    }),
    { numRuns: 15 },
  )
  expect(lost).toBeGreaterThan(0)
})

test('the compactions of every agent are found', () => {
  const sessions = {
    codex: generateCodexRollout({ seed: 3, turns: 8, compactions: 2 }),
    pi: generatePiSession({ seed: 3, turns: 8, compactions: 2 }),
    ...Object.fromEntries(
      talkFormats.map((format) => [format, generateTalk({ format, seed: 3, turns: 8, compactions: 2 })]),
    ),
  }
  const found = Object.entries(sessions).map(([name, { records }]) => [
    name,
    lostIn(entriesOf(records)).compactions.length,
  ])
  const made = Object.entries(sessions).map(([name, { truth }]) => [name, truth.compactions])
  expect(found).toEqual(made)
})
