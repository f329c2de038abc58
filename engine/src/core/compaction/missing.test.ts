import { describe, expect, test } from 'vitest'
import { session } from '../../testing/records.ts'
import { noPosition } from '../ports/session-store.ts'
import { cautionLine, doubtLeads, pageTitles, standingRulesLead } from '../prompts/page.ts'
import { estimateTokens } from '../tokens/estimate/estimate.ts'
import { foldEntries } from '../transcript/view/fold.ts'
import { countGivenBack, missingFromSummary } from './missing.ts'

const wish = 'Rename the column total to amount in every report.'

function jobOf(records: ReturnType<typeof session>['records']) {
  const view = foldEntries(records.map((record) => ({ record, position: noPosition })))
  return { trigger: 'manual', reason: 'test', view, threshold: 0, sessionId: 's' } as const
}

const talk = session()
  .user(`Read the reports. Never touch schema.sql. ${'Please. '.repeat(5)}`)
  .assistant('I have read them.')
  .user(wish)
  .assistant('It is renamed.')

test('the words of the user that the summary lacks are what is missing', () => {
  const missing = missingFromSummary(jobOf(talk.records), { summary: '1. The reports were read.' })
  expect(missing).toContain(wish)
  expect(missing).toContain('Never touch schema.sql.')
  expect(missing).not.toContain('The reports were read')
})

test('a claim that the conversation does not support is named', () => {
  const summary = `- "${wish}" The user approved the deployment to production.`
  expect(missingFromSummary(jobOf(talk.records), { summary })).toContain('approved the deployment')
})

test('a message that is longer than the limit is shortened, and the rest is still said', () => {
  const pasted = session()
    .user('Read the reports. Never touch schema.sql.')
    .assistant('I have read them.')
    .user(`Remember these: ${'alpha beta gamma '.repeat(3_000)}`)
    .assistant('Done.')
  const missing = missingFromSummary(jobOf(pasted.records), { summary: 'The reports were read.', maxTokens: 2_000 })
  expect(missing).toContain('Never touch schema.sql.')
  expect(missing).toContain('Remember these: alpha')
  expect(estimateTokens(missing)).toBeLessThanOrEqual(2_000)
})

test('it keeps to the limit', () => {
  const long = session()
  for (let at = 0; at < 60; at++)
    long.user(`Wish ${at}: rename the column number ${at} in every report.`).assistant('Done.')
  for (const maxTokens of [200, 1_000]) {
    const missing = missingFromSummary(jobOf(long.records), { summary: 'Nothing.', maxTokens })
    expect(estimateTokens(missing)).toBeLessThanOrEqual(maxTokens)
  }
})

test('a claim that was not so when it was last seen is named, with what was seen', () => {
  const tested = session()
    .user(wish)
    .toolUse('t1', 'Bash', { command: 'npm test' })
    .toolResult('t1', 'FAIL reports.test.ts: expected 3, got 2', { isError: true })
    .assistant('One test fails.')
  const missing = missingFromSummary(jobOf(tested.records), { summary: `- "${wish}"\n- \`npm test\` passes.` })
  expect(missing).toMatch(/not so when it was last seen:\n- "`npm test` passes\. \(last seen: .*failed/)
})

describe('what a text gives back', () => {
  test('counts list items by the line before them', () => {
    const text = [
      ...[standingRulesLead, '- "Never push."', '- "Use tabs."', ''],
      ...[cautionLine, '- The user approved it.', '', '- no item of the caution'],
      ...[doubtLeads.quotes, '- "now"', '', doubtLeads.approvals, '- "a"', '', doubtLeads.state, '- "b"', '- "c"', ''],
      ...[
        `## ${pageTitles.words}`,
        '- "Go on."',
        '- ',
        '<user-message>',
        '- one',
        '- two',
        '</user-message>',
        '- "Stop."',
      ],
      ...['', `## ${pageTitles.earlier}`, '- "Before."', '', `## ${pageTitles.rules}`, '- "Always test."', ''],
      ...[`## ${pageTitles.state}`, 'Commands that verify the work:', '- `npm test` failed', ''],
      ...[`## ${pageTitles.doubts}`, '- not a claim', '', `## ${pageTitles.record}`, 'What was said', ''],
      ...[`## ${pageTitles.conversation}`, '- On "Go on."', '  - did: ran it', '', '- On "Stop."'],
    ].join('\n')
    expect(countGivenBack(text)).toEqual({ rules: 3, facts: 7, doubts: 5 })
  })

  test('nothing is counted in a text without our headings', () => {
    expect(countGivenBack('- a\n## Other\n- b')).toEqual({ rules: 0, facts: 0, doubts: 0 })
  })

  test('counts every item that a real comparison lists', () => {
    const { records } = session()
      .user('Fix the gate. Never push to main.')
      .toolUse('t1', 'Bash', { command: 'npm test' })
      .toolResult('t1', 'FAIL gate.test.ts: expected 3, got 2', { isError: true })
      .assistant('One test fails.')
    const view = foldEntries(records.map((record) => ({ record, position: noPosition })))
    const job = { trigger: 'manual', reason: 'test', view, threshold: 0, sessionId: 's' } as const
    const text = missingFromSummary(job, { summary: '1. The user approved the deployment.' })
    const { rules, facts, doubts } = countGivenBack(text)
    expect([rules + facts + doubts, doubts, facts > 0]).toEqual([text.match(/^- /gm)?.length, 1, true])
  })
})
