import { expect, test } from 'vitest'
import { session } from '../../testing/records.ts'
import { noPosition } from '../ports/session-store.ts'
import { cautionLine, doubtLeads, pageTitles, standingRulesLead } from '../prompts/page.ts'
import { foldEntries } from '../transcript/view/fold.ts'
import { countGivenBack } from './given-back.ts'
import { missingFromSummary } from './missing.ts'

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
