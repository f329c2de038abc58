import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuTime, lowestRatio } from '../../../node/testing/cpu-time.ts'
import { assistant, call, human, type Said, shell } from '../../../testing/talk.ts'
import { type Exchange, emptyLedger, type Ledger } from '../../ledger/facts.ts'
import { createLedger } from '../../ledger/ledger.ts'
import { pageTitles } from '../../prompts/page.ts'
import { type Conversation, record } from './record.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)

function ledgerOf(...parts: readonly (Said | readonly Said[])[]): Ledger {
  const book = createLedger()
  for (const { message, record: stored } of parts.flat()) book.add(message, stored)
  return book.ledger()
}

const editing = (path: string, after: string) =>
  call({ name: 'Edit', input: { file_path: path, old_string: 'old', new_string: after }, text: 'ok' })
const searching = (pattern: string, text: string) => call({ name: 'Grep', input: { pattern }, text })

const recordOf = (conversation: Conversation, alreadySaid: string, tokens = 5_000) =>
  record(conversation, { alreadySaid, tokens, recall: false, countTokens })

const cause = 'The cellar hinge broke because the screws rusted during winter storage.'

describe('the record next to a summary', () => {
  test('has what the summary does not say, under the request it belongs to', () => {
    const ledger = ledgerOf(human('Look at the hinge.'), assistant(`${cause}\n\nThe gate is painted green now.`))
    expect(recordOf({ ledger }, '- "Look at the hinge."\n- The gate is painted green.')).toBe(
      `## ${pageTitles.conversation}\n- On "Look at the hinge."\n  Agent: ${cause}`,
    )
  })

  test('is empty if everything is said', () => {
    const ledger = ledgerOf(human('Look at the hinge.'), assistant(cause))
    expect(recordOf({ ledger }, `- "Look at the hinge."\n- ${cause}`)).toBe('')
  })

  test('shows the message after a report, in which the user may have contradicted it', () => {
    const fixed = 'Fixed! The hinge of the gate has 4 new screws and holds well.'
    const messages = ['Fix the hinge of the gate.', 'It still falls off every time.', 'Try something else then.']
    const exchanges = messages.map((text, last): Exchange => ({ kind: 'message', text, last }))
    const ledger = {
      ...emptyLedger,
      exchanges: exchanges.map((one, at) => (at === 0 ? { ...one, report: fixed } : one)),
    }
    const text = recordOf({ ledger }, messages.map((words) => `- "${words}"`).join('\n'))
    expect(text.split('\n').slice(1)).toEqual([
      '- On "Fix the hinge of the gate."',
      `  Agent: ${fixed}`,
      '- Then came "It still falls off every time."',
    ])
  })

  test('has an announcement before the actions that followed it, and not once the agent said something else', () => {
    const announced = 'Now let me reply to the comments of both reviewers:'
    const asked = [human('Fix the door and reply.'), ...shell('make door', 'made')]
    const repliedAfter = (words: string) => [assistant(words), ...shell('gh reply 4711', 'sent')]
    const replied = repliedAfter(announced)
    const stepsIn = (...parts: readonly (Said | readonly Said[])[]) =>
      recordOf({ ledger: ledgerOf(...parts) }, '')
        .split('\n')
        .slice(2)
    const [made, sent] = ['  - did: ran `make door` → ok: made', '  - did: ran `gh reply 4711` → ok: sent']
    expect(stepsIn(asked, replied)).toEqual([made, `  Agent: ${announced}`, sent])
    expect(stepsIn(asked, repliedAfter('Now the comments.'))).toEqual([made, sent])
    expect(stepsIn(asked, assistant('Now the comments.'))).toEqual([made, '  Agent: Now the comments.'])
    expect(stepsIn(asked, replied, assistant('Everything is done.'))).toEqual([
      made,
      sent,
      '  Agent: Everything is done.',
    ])
  })

  test('marks an announcement of success that later failed', () => {
    const ledger = ledgerOf(
      human('Fix the parser.'),
      ...[shell('npm test', '9 passed'), [assistant('I rewrote the tokenizer in parse.ts, and all tests pass.')]],
      human('Now the printer.'),
      shell('npm test', '2 failed', 1),
      assistant('The printer is not finished.'),
    )
    expect(recordOf({ ledger }, '- "Fix the parser." "Now the printer."')).toMatch(
      /all tests pass\. \(last seen: .*2 failed/,
    )
  })

  test('has the last run of a command among the steps, and one that failed only among the errors', () => {
    const runs = [shell('npm test', '1 passed'), shell('npm test', '2 failed', 1), shell('npm test', '3 passed')]
    const ledger = ledgerOf(human('Look at it.'), ...runs.flat(), assistant('Done with it.'))
    const failed = '- `npm test` failed: 2 failed. It succeeded later.'
    for (const summary of ['', '- "Look at it."']) {
      const [steps = '', errors] = recordOf({ ledger }, summary).split(`## ${pageTitles.errors}\n`)
      expect(steps.match(/\d (?:passed|failed)/g)).toEqual(['3 passed'])
      expect(errors).toBe(failed)
    }
  })

  test('says of an explanation that the same command failed again after it', () => {
    const ledger = ledgerOf(
      human('Look at it.'),
      ...[shell('make', 'error: no hinge', 1), [assistant('The hinge is missing in gate.ts, so I add it there.')]],
      ...[shell('make', 'error: no lock', 1), [assistant('It is the lock that door.ts does not import.')]],
      ...[shell('make', 'made'), shell('lint', 'error: tabs', 1)],
    )
    const [, errors = ''] = recordOf({ ledger }, '- "Look at it."').split(`## ${pageTitles.errors}\n`)
    expect(errors.split('\n').map((line) => line.replace(/The agent: .*?\. /, ''))).toEqual([
      '- `make` failed: error: no hinge. It failed again after that.',
      '- `make` failed: error: no lock. It succeeded later.',
      '- `lint` failed: error: tabs.',
    ])
  })

  test('has of older exchanges the last action, of the current one all actions and what the agent looked up since it last changed something', () => {
    const door = [
      ...editing('door.ts', 'open = true'),
      ...shell('make door', 'made'),
      ...editing('lock.ts', 'shut = 1'),
      ...searching('lock', 'src/lock.ts:7'),
    ]
    const found = searching('hinge', 'src/gate.ts:4')
    const gate = [
      ...searching('gate', 'src/gate.ts:1'),
      ...editing('gate.ts', 'wide = 2'),
      ...shell('deploy harbor --now', 'live at 4711'),
      ...found,
      ...shell('cat a.log', 'x 9'),
    ]
    const talk = [human('Fix the door.'), ...door, human('And the gate.'), ...gate]
    const stepsIn = (said: string) =>
      recordOf({ ledger: ledgerOf(...talk) }, said)
        .split('\n')
        .slice(1)
    expect(stepsIn('- "Fix the door."\n- "And the gate."')).toEqual([
      '- On "Fix the door."',
      '  - did: edited lock.ts: `shut = 1`',
      '- On "And the gate."',
      '  - did: edited gate.ts: `wide = 2`',
      '  - did: ran `deploy harbor --now` → ok: live at 4711',
      '  - saw: searched for `hinge` → src/gate.ts:4',
      '  - saw: ran `cat a.log` → x 9',
    ])
    expect(stepsIn('').filter((line) => /^ {2}- (?:did|saw)/.test(line))).toEqual([
      '  - did: edited door.ts: `open = true`',
      '  - did: ran `make door` → ok: made',
      '  - did: edited lock.ts: `shut = 1`',
      '  - saw: searched for `lock` → src/lock.ts:7',
      '  - saw: searched for `gate` → src/gate.ts:1',
      '  - did: edited gate.ts: `wide = 2`',
      '  - did: ran `deploy harbor --now` → ok: live at 4711',
      '  - saw: searched for `hinge` → src/gate.ts:4',
      '  - saw: ran `cat a.log` → x 9',
    ])
  })

  test('has no theory of the agent about something that the summary explains otherwise', () => {
    const ledger = ledgerOf(
      human('Open the gate.'),
      ...shell('make gate', 'error: no lock', 1),
      assistant('The compiler ignores importedLock inside a rescue block, which is a known bug of the compiler.'),
      ...shell('make harbor', 'made'),
      assistant('The bell of the harbor needs 12 volts, so the old transformer cannot drive it.'),
      ...shell('make pier', 'made'),
      assistant('The gate opens now.'),
    )
    const doubted = '- importedLock: the agent blamed the compiler, which was never shown.'
    const text = recordOf({ ledger }, `- "Open the gate."\n${doubted}`)
    expect(text).not.toContain('known bug')
    expect(text).toContain('needs 12 volts')
  })

  test('leaves out what states nothing: answered questions and announcements', () => {
    const ledger = ledgerOf(
      human('Oil the door.'),
      assistant('Let me look at the hinge first.\n\nThe hinge needs 12 drops.\n\nShall I oil the cellar door as well?'),
      human('yes please'),
      assistant('Is the ladder yours?'),
      human('Never mind the ladder.'),
      assistant('It is 4 meters long.'),
    )
    const asked = [
      '- "Oil the door."',
      '- (in reply to: Shall I oil the cellar door as well?) "yes please"',
      '- (in reply to: Is the ladder yours?) "Never mind the ladder."',
    ].join('\n')
    expect(recordOf({ ledger }, asked).split('\n').slice(1)).toEqual([
      '- On "Oil the door."',
      '  Agent: The hinge needs 12 drops.',
      '- Then came "yes please"',
      '- On "Never mind the ladder."',
      '  Agent: It is 4 meters long.',
    ])
    const offline = recordOf({ ledger }, '')
    for (const words of ['yes please', 'Is the ladder yours?']) expect(offline).toContain(words)
  })

  test.each(['', '- "Do what plan.md says."\n- "Go on."'])(
    'has a text that was read twice as it was read last, and of a file the last edit of each exchange (summary: %s)',
    (summary) => {
      const reading = (text: string) => call({ name: 'Read', input: { file_path: '/plan.md' }, text })
      const ledger = ledgerOf(
        human('Do what plan.md says.'),
        reading('1. Paint the door with 2 coats.'),
        ...editing('door.ts', 'coats = 1'),
        ...editing('door.ts', 'coats = 2'),
        human('Go on.'),
        reading('1. Paint the door with 3 coats.'),
        ...editing('door.ts', 'coats = 3'),
      )
      const lines = recordOf({ ledger }, summary)
        .split('\n')
        .filter((line) => /^ {2}- (?:read|did)/.test(line))
      const edits = ['  - did: edited door.ts: `coats = 2`', '  - did: edited door.ts: `coats = 3`']
      const read = '  - read: plan.md: 1. Paint the door with 3 coats.'
      expect(lines).toEqual([edits[0], read, edits[1]])
    },
  )

  test('says of an older exchange that the user interrupted it', () => {
    const stop = human('[Request interrupted by user]')
    const ledger = ledgerOf(
      human('Fix the door.'),
      shell('make door', 'made'),
      stop,
      human('No, the gate.'),
      assistant(cause),
    )
    expect(recordOf({ ledger }, '- "Fix the door."\n- "No, the gate."')).toContain('did: was interrupted by the user')
  })

  test('shows no code of an earlier summary, since the files have it as it is now', () => {
    const earlierSummary =
      '3. Files and code sections:\n- door.ts opens 3 doors:\n```ts\nopen(3)\n```\n- lock.ts shuts 4 locks.'
    const text = recordOf({ ledger: emptyLedger, earlierSummary }, '- The gate is green.')
    expect([text.includes('opens 3 doors'), text.includes('shuts 4 locks'), text.includes('open(3)')]).toEqual([
      true,
      true,
      false,
    ])
  })

  test('of two equal paragraphs has the later one', () => {
    const ledger = ledgerOf(human('Look at it.'), assistant(cause), human('And again?'), assistant(cause))
    const text = recordOf({ ledger }, '- "Look at it."\n- "And again?"')
    expect(text.split(cause)).toHaveLength(2)
    expect(text.indexOf(cause)).toBeGreaterThan(text.indexOf('And again?'))
  })

  test('has statements of the earlier summary that the new one lacks, but no old tasks or next steps', () => {
    const earlierSummary = [
      '2. Key technical concepts:\n- The index lives in lib/index.ts.\n- Redis lost 12 jobs.',
      '7. Pending tasks:\n- Paint gate 5.',
      '9. Optional next step:\n- Open gate 6.',
    ].join('\n')
    const text = recordOf(
      { ledger: emptyLedger, earlierSummary },
      '- The index is in lib/index.ts. Redis lost 12 jobs.',
    )
    expect(text).toBe('')
    const lacking = recordOf({ ledger: emptyLedger, earlierSummary }, '- The index is in lib/index.ts.')
    expect(lacking).toContain('- Redis lost 12 jobs.')
    expect(lacking).not.toMatch(/gate [56]/)
  })

  test('without a model, leaves out what the earlier summary had planned and later work has dealt with', () => {
    const earlierSummary = [
      '4. Errors and fixes:\n- Redis lost 12 jobs.',
      '7. Pending tasks:\n- Run the tests (`npm test`).\n- Paint gate 5.\n- Move harbor 9.',
      '8. Current work:\nJust created gate 6.',
      '9. Optional next step:\n- Open gate 6.',
    ].join('\n')
    const ledger = ledgerOf(human('Go on.'), ...shell('npm test', '3 passed'), assistant('Gate 5 has been painted.'))
    const text = recordOf({ ledger, earlierSummary }, '')
    expect(text.split(`## ${pageTitles.since}`)[0]).toContain('- Redis lost 12 jobs.')
    expect(text).toContain('- Move harbor 9.')
    expect(text).not.toMatch(/Run the tests|Paint gate 5|gate 6/)
  })

  test('takes from an earlier context of ours what its model wrote, not what code added to it', () => {
    const earlierSummary = `2. Key technical concepts:\n- Redis lost 12 jobs.\n\n## ${pageTitles.state}\nBranch: old.`
    const text = recordOf({ ledger: emptyLedger, earlierSummary }, '- The gate is green.')
    expect(text).toContain('- Redis lost 12 jobs.')
    expect(text).not.toContain('Branch: old.')
  })

  test('explains an error once: there, or in the conversation', () => {
    const ledger = ledgerOf(
      human('Build it.'),
      shell('make all', 'error: no rule for gate', 2),
      assistant('The rule for the gate is missing from the makefile, which somebody deleted in 2019.'),
      human('Go on.'),
    )
    const text = recordOf({ ledger }, '- "Build it." "Go on."')
    expect(text).toContain('- `make all` failed: error: no rule for gate.')
    expect(text.split('is missing from the makefile')).toHaveLength(2)
  })

  test('has a theory that did not hold only with the error, which says that it failed again', () => {
    const theory = 'The gate is stuck because hinge 12 rusted.'
    const talk = [
      human('Build it.'),
      ...shell('make all', 'error: no rule for gate', 2),
      assistant(`${theory} Let me oil it.`),
      ...shell('make all', 'error: no rule for door', 2),
      assistant('The makefile lost rule 4711 in 2019, so nothing is ever built.'),
      ...shell('make all', 'made'),
      assistant('Rule 4711 is there again.'),
      human('Go on.'),
    ]
    for (const summary of ['', '- "Build it." "Go on."']) {
      const text = recordOf({ ledger: ledgerOf(...talk) }, summary)
      expect(text.split(theory)).toHaveLength(2)
      expect(text).toContain(`no rule for gate. The agent: ${theory} It failed again after that.`)
    }
  })

  test('leaves the explanation of an error to a summary that gives it', () => {
    const ledger = ledgerOf(
      human('Build it.'),
      shell('make all', 'error: stop 4711', 2),
      assistant('The rule for gate 7 is missing from the makefile.'),
    )
    const said = '- "Build it."\n- The makefile has no rule for gate 7: it is missing.'
    expect(recordOf({ ledger }, said)).toBe(`## ${pageTitles.errors}\n- \`make all\` failed: error: stop 4711.`)
    expect(recordOf({ ledger }, `${said}\n- error: stop 4711`)).toBe('')
  })

  test('prefers reports to the last steps, which only a page without a model needs to show where the work stood', () => {
    const report = Array.from({ length: 12 }, (_, at) => `Finding ${at + 100}: the hinge rusted in the cellar.`).join(
      '\n',
    )
    const steps = Array.from({ length: 20 }, (_, at) => ({ type: 'did', text: `edited part${at}.ts` }) as const)
    const words = ['Look at the hinges.', 'Now mend them all.']
    const exchanges: readonly Exchange[] = [
      { kind: 'message', text: words[0] ?? '', report, last: 0 },
      { kind: 'message', text: words[1] ?? '', steps, last: 1 },
    ]
    const ledger = { ...emptyLedger, exchanges }
    const actions = (text: string) => text.split('- did: ').length - 1
    const beside = recordOf({ ledger }, words.map((text) => `- "${text}"`).join('\n'), 170)
    expect(beside.match(/Finding \d+/g)).toHaveLength(12)
    expect(actions(recordOf({ ledger }, '', 170))).toBeGreaterThan(0)
  })

  test('does not take a long report for the explanation of an error', () => {
    const error = {
      what: 'git push',
      line: 'no upstream',
      last: 1,
      cause: 'All is done.\n[…]\nThe end.',
      isFixed: false,
    }
    expect(recordOf({ ledger: { ...emptyLedger, errors: [error] } }, '- Nothing else.')).toBe(
      `## ${pageTitles.errors}\n- \`git push\` failed: no upstream.`,
    )
  })
})

describe('any record', () => {
  const sentence = fc
    .integer({ min: 1_000, max: 1_020 })
    .map((number) => `The hinge number ${number} rusted because the cellar door was flooded during winter.`)
  const report = fc.array(sentence, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n\n'))
  const anyLedger = fc.array(report, { maxLength: 12 }).map(
    (reports): Ledger => ({
      ...emptyLedger,
      messages: reports.length,
      exchanges: reports.map(
        (text, at): Exchange => ({ kind: 'message', text: `Look at ${at}.`, report: text, last: at }),
      ),
    }),
  )

  test('fits, says nothing that the summary says, and says nothing twice', () => {
    fc.assert(
      fc.property(
        anyLedger,
        fc.array(sentence, { maxLength: 6 }),
        fc.integer({ min: 0, max: 900 }),
        (ledger, said, tokens) => {
          const alreadySaid = ['- Nothing else.', ...said.map((line) => `- ${line}`)].join('\n')
          const text = recordOf({ ledger }, alreadySaid, tokens)
          expect(countTokens(text)).toBeLessThanOrEqual(tokens)
          const statements = text.match(/The hinge number \d+ rusted/g) ?? []
          expect(new Set(statements).size).toBe(statements.length)
          for (const line of said) expect(text).not.toContain(line)
        },
      ),
    )
  })

  test('repeats no announcement of success bare that failed later, however little room there is', () => {
    const claim = fc.constantFrom('All tests pass.', 'The tests pass now.', 'The test suite is green.')
    const round = fc.record({ hasPassed: fc.boolean(), claim, words: fc.integer({ min: 1, max: 40 }) })
    const rounds = fc.array(round, { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(rounds, fc.integer({ min: 60, max: 2_000 }), fc.boolean(), (all, tokens, hasSummary) => {
        const talk = all.map(({ hasPassed, claim: said, words }, at) => [
          human(`Rewrite part ${at}.`),
          ...shell('npm test', hasPassed ? `${at + 1} passed` : `${at + 1} failed`, hasPassed ? 0 : 1),
          assistant(`Part ${at} has ${'very '.repeat(words)}new hinges. ${said}\n\nIts door is oiled.`),
        ])
        const summary = hasSummary ? all.map((_, at) => `- "Rewrite part ${at}."`).join('\n') : ''
        const earlierSummary = '5. Problem solving:\n- The cellar door got 3 bolts. All tests pass.'
        const text = recordOf({ ledger: ledgerOf(...talk), earlierSummary }, summary, tokens)
        const said = text.match(/(?:tests pass(?: now)?|suite is green)\.(?: \(last seen: )?/g) ?? []
        const isBroken = all.at(-1)?.hasPassed === false
        for (const one of said)
          expect({ one, text, isMarked: one.includes('last seen') }).toEqual({ one, text, isMarked: isBroken })
      }),
    )
  })

  describe('takes work in proportion to the conversation', () => {
    const alreadySaid = Array.from({ length: 50 }, (_, at) => `- Hinge ${at} was oiled ${at + 7} times.`).join('\n')
    const ledgerWith = (size: number): Ledger => ({
      ...emptyLedger,
      exchanges: Array.from({ length: size }, (_, at) => ({
        kind: 'message',
        text: `Look at hinge ${at}.`,
        report: `Hinge ${at} of the cellar door rusted.\n\nIt was oiled ${at + 7} times.`,
        steps: [{ type: 'said', text: `The frame ${at} looks wet on both sides of the door.` }],
        last: at,
      })),
      errors: Array.from({ length: size }, (_, at) => ({
        what: `make ${at}`,
        line: `no rule ${at}`,
        last: at,
        cause: `Rule ${at} is missing.`,
        isFixed: true,
      })),
    })
    // Four times as much takes four times the work; if it took sixteen times, the record would be quadratic.
    const tooMuch = 8

    test('counted in characters that are sized', () => {
      const sized = (size: number) => {
        let characters = 0
        const counting = (text: string) => {
          characters += text.length
          return countTokens(text)
        }
        record({ ledger: ledgerWith(size) }, { alreadySaid, recall: false, countTokens: counting, tokens: size * 40 })
        return characters
      }
      expect(sized(400) / sized(100)).toBeLessThan(tooMuch)
    })

    test('measured in processor time', () => {
      const timeFor = (size: number) => {
        const ledger = ledgerWith(size)
        return cpuTime(() => {
          for (let run = 0; run < 1_600 / size; run++) recordOf({ ledger }, alreadySaid, size * 40)
        })
      }
      // The same number of exchanges in fewer, larger records: as much work if it is linear, 32 times as much if not.
      expect(lowestRatio(3, () => timeFor(1_600) / timeFor(50))).toBeLessThan(3)
    })
  })

  test('with room, has every statement that the summary lacks', () => {
    fc.assert(
      fc.property(anyLedger, fc.array(sentence, { maxLength: 6 }), (ledger, said) => {
        const text = recordOf({ ledger }, ['- Nothing else.', ...said.map((line) => `- ${line}`)].join('\n'), 20_000)
        const lines = ledger.exchanges.flatMap(({ report: told = '' }) => told.split('\n\n'))
        for (const line of lines) if (!said.includes(line)) expect(text).toContain(line)
      }),
    )
  })
})
