import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assistant, call, human, type Said, shell } from '../../../testing/talk.ts'
import type { Ledger } from '../../ledger/facts.ts'
import { fromJson, toJson } from '../../ledger/json.ts'
import { createLedger } from '../../ledger/ledger.ts'
import { annotateStateClaims } from './claims.ts'

function ledgerOf(...parts: readonly (Said | readonly Said[])[]): Ledger {
  const book = createLedger()
  for (const { message, record } of parts.flat()) book.add(message, record)
  return book.ledger()
}

const marked = (text: string, ledger: Ledger) => annotateStateClaims(text, ledger).found

/** Commands, and claims of a summary about their latest run. `past` may be about an earlier run. */
const cases = [
  {
    commands: ['npm test', 'npx vitest run', 'cd app && pytest -q 2>&1 | tail -3', 'go test ./...'],
    present: [
      'All tests pass now.',
      'The parser is fixed, and all 42 tests pass.',
      '- The test suite is green',
      'Tests pass.',
    ],
    past: ['All tests passed.', 'The full test suite passed after the fix.'],
  },
  {
    commands: ['npm run build', 'cargo build'],
    present: ['The build succeeds.', 'The project compiles.', 'Everything builds now and the build is green.'],
    past: ['The build passed.'],
  },
  { commands: ['npm run lint'], present: ['Lint is clean.', 'There are no lint errors.'], past: [] },
  { commands: ['npx tsc --noEmit'], present: ['The type check passes.', 'There are no type errors.'], past: [] },
  {
    commands: ['git push', 'git push origin main'],
    present: ['Everything is pushed.', 'All commits are now pushed to origin.'],
    past: [
      'The work was pushed to origin.',
      'I fixed the parser and pushed it to main.',
      'The branch has been pushed.',
    ],
  },
  { commands: ['git commit -m x'], present: ['All changes are committed.'], past: ['The fix was committed.'] },
  { commands: ['fly deploy'], present: ['The service is deployed.'], past: ['It was deployed to production.'] },
  { commands: ['npm publish'], present: [], past: ['Version 2.0 was published.'] },
  {
    commands: ['npm install left-pad'],
    present: ['All dependencies are installed.'],
    past: ['left-pad was installed.'],
  },
] as const

const rows = cases.flatMap(({ commands, present, past }) =>
  commands.flatMap((command) => [
    ...present.map((claim) => ({ command, claim, isPast: false })),
    ...past.map((claim) => ({ command, claim, isPast: true })),
  ]),
)
const failed = (command: string) => shell(command, 'error: it broke', 1)
const went = (command: string) => shell(command, 'fine')

describe('a claim of success', () => {
  test.each(rows)('"$claim" after a failed $command is marked, and nothing is removed', ({ command, claim }) => {
    const { text, found } = annotateStateClaims(`It works. ${claim} More to say`, ledgerOf(failed(command)))
    expect(found).toEqual([claim.endsWith('.') ? claim : `${claim} More to say`])
    expect(text.replace(/ \(last seen: .*?"\)/, '')).toBe(`It works. ${claim} More to say`)
    expect(text).toContain('failed, "error: it broke")')
  })

  test.each(rows)('"$claim" after a $command that failed and then went well is not marked', ({ command, claim }) => {
    expect(marked(claim, ledgerOf(failed(command), went(command)))).toEqual([])
  })

  test.each(rows)(
    '"$claim" after a $command that went well and then failed: marked unless it may be about the first',
    (row) => {
      const { command, claim, isPast } = row
      expect(marked(claim, ledgerOf(went(command), failed(command)))).toEqual(isPast ? [] : [claim])
    },
  )

  test('is never marked, whatever ran, as long as the latest run of each kind went well', () => {
    const commands = [...new Set(rows.map(({ command }) => command))]
    const claims = [...new Set(rows.map(({ claim }) => claim))]
    const runs = fc.array(fc.tuple(fc.constantFrom(...commands), fc.boolean()), { maxLength: 12 })
    fc.assert(
      fc.property(runs, (steps) => {
        const parts = steps.map(([command, isWell]) => (isWell ? went(command) : failed(command)))
        const ledger = ledgerOf(...parts, ...commands.map(went))
        expect(marked(claims.join('\n'), ledger)).toEqual([])
        expect(marked(claims.join('\n'), fromJson(JSON.parse(JSON.stringify(toJson(ledger)))))).toEqual([])
      }),
      { numRuns: 40 },
    )
  })
})

test.each([
  'Once all tests pass, push it.',
  'Make sure that all tests pass.',
  'Next: fix the parser until all tests pass.',
  'If the tests pass, the branch is pushed.',
  'The tests should pass now.',
  'Not all tests pass.',
  'All tests pass except two.',
  '10 of 13 tests pass.',
  'The parser tests pass.',
  'All tests in parser.test.ts pass.',
  'The tests pass for the parser.',
  'The user said that all tests pass.',
  'The commit message says "all tests pass".',
  'Do all tests pass?',
  'The tests failed first, then all tests pass.',
  'Earlier the work was pushed to origin.',
  'The work is not pushed yet.',
  'The work must be pushed to origin.',
  'The user pushed back on this design.',
  'Each item is pushed onto the stack.',
  'Events are pushed to the browser.',
  'We are committed to this design.',
  'Node 22 is installed.',
  'The goal is that all tests pass.',
  'Added a filter so that all tests pass.',
])('after failed runs "%s" is no false claim', (sentence) => {
  const commands = ['npm test', 'git push', 'git commit -m x', 'npm install left-pad', 'npm run build']
  expect(marked(sentence, ledgerOf(...commands.map(failed)))).toEqual([])
})

describe('nothing is contradicted', () => {
  const claims = 'All tests pass now.\nThe work was pushed to origin.\nThe build succeeds.'
  const stopped = "The user doesn't want to proceed with this tool use. The tool use was rejected"

  test.each<[string, readonly (Said | readonly Said[])[]]>([
    ['nothing of the kind ran', [shell('ls', 'no such file', 1)]],
    ['the command was refused', [call({ name: 'Bash', input: { command: 'git push' }, text: stopped, isError: true })]],
    ['the user did it', [failed('git push'), human('I pushed it myself.')]],
    [
      'another agent worked since',
      [failed('npm test'), call({ name: 'Task', input: { prompt: 'fix' }, text: 'Done.' })],
    ],
    ['a tool that can do it ran since', [failed('git push'), call({ name: 'mcp__github__push_files', input: {} })]],
    ['another command of the script may have failed', [shell('npm test && grep -q x y', 'ok', 1)]],
    ['there was nothing to commit', [shell('git commit -m x', 'nothing to commit, working tree clean', 1)]],
    [
      'it runs again in the background',
      [
        failed('npm test'),
        call({
          name: 'Bash',
          input: { command: 'npm test' },
          text: 'Command running in background with ID: b17x',
          raw: { stdout: '', backgroundTaskId: 'b17x' },
        }),
      ],
    ],
  ])('where %s', (_, parts) => {
    expect(marked(`${claims}\nThe fix was committed.`, ledgerOf(...parts))).toEqual([])
  })

  test('by what the user said in the same words', () => {
    const said = human('All tests pass now. Please push.')
    expect(marked('- All tests pass now. Please push.', ledgerOf(said, failed('npm test')))).toEqual([])
  })
})

test('a client that reports no exit code: the output says that it failed', () => {
  const plain = (command: string, text: string) => call({ name: 'Bash', input: { command }, text })
  expect(marked('All tests pass.', ledgerOf(plain('pytest -q', '3 failed, 10 passed in 0.12s')))).toHaveLength(1)
  expect(
    marked('All tests pass.', ledgerOf(plain('pytest -q', '10 passed in 0.12s\nerror: logged by a test'))),
  ).toEqual([])
  const rejected = '! [rejected] main -> main (fetch first)\nerror: failed to push some refs'
  expect(marked('It was pushed.', ledgerOf(plain('git push', rejected)))).toHaveLength(1)
})

test('a run that failed in the background contradicts, and survives a compaction', () => {
  const started = call({
    name: 'Bash',
    input: { command: 'npm test' },
    text: 'Command running in background with ID: b17x',
    raw: { stdout: '', backgroundTaskId: 'b17x' },
  })
  const ended = human('<task-notification>b17x failed (exit code 1)</task-notification>')
  const ledger = fromJson(JSON.parse(JSON.stringify(toJson(ledgerOf(started, ended, assistant('Hm.'))))))
  expect(annotateStateClaims('All tests pass.', ledger).text).toBe(
    'All tests pass. (last seen: `npm test` failed, "exit code 1")',
  )
})
