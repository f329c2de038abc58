import { expect, test } from 'vitest'
import { type Exchange, emptyLedger } from '../../ledger/facts.ts'
import { type OfflineInput, offlineSummary } from './offline.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)

function written(exchanges: readonly Exchange[], options: Partial<OfflineInput> = {}): string {
  const ledger = { ...emptyLedger, exchanges }
  return offlineSummary({ ledger, instructions: '', recall: false, tokens: 2_000, countTokens, ...options })
}

test('the report stands where it was said: what comes behind it was done after it', () => {
  const report = 'The counts differ. Git shows 627 lines, the record 77.'
  const text = written([
    {
      kind: 'message',
      text: 'Check the counts',
      last: 0,
      report,
      steps: [
        { type: 'did', text: 'ran `count` → ok: 77' },
        { type: 'said', text: report },
        { type: 'saw', text: 'ran `cat base` → 9b6bd9e' },
      ],
    },
  ])
  expect(text.split('\n').slice(3)).toEqual([
    '- User: "Check the counts"',
    '  - did: ran `count` → ok: 77',
    `  Agent: ${report}`,
    '  - saw: ran `cat base` → 9b6bd9e',
  ])
})

test('an old request in one line tells what the report says, not how it begins', () => {
  const old: Exchange = {
    kind: 'message',
    text: 'Why is it slow?',
    last: 0,
    report: `Here is what I found:\n\n\`\`\`\n${'x'.repeat(900)}\n\`\`\`\nThe index is rebuilt on every call.\n${'More. '.repeat(400)}`,
  }
  const newer = Array.from({ length: 3 }, (_, at) => ({ kind: 'message', text: `Next ${at}`, last: at + 1 }) as const)
  expect(written([old, ...newer], { tokens: 90 })).toContain(
    '- "Why is it slow?" → The index is rebuilt on every call.',
  )
})

test('of an earlier summary neither its scratchpad, nor the user’s messages, nor the next step of then is told again', () => {
  const earlierSummary = [
    'Analysis:\nLet me think.',
    '1. Primary Request and Intent:\n- Make it fast.',
    '2. Key Technical Concepts:\n- Index.',
    '6. All user messages:\n- "Make it fast"',
    '7. Pending Tasks:\n- Measure.',
    '9. Optional Next Step:\n- Run it.\nContinue without asking.',
  ].join('\n')
  expect(written([], { earlierSummary }).split('\n').slice(3)).toEqual([
    '1. Primary Request and Intent:',
    '- Make it fast.',
    '2. Key Technical Concepts:',
    '- Index.',
    '7. Pending Tasks:',
    '- Measure.',
  ])
})

test('an old request whose steps are gone tells what was done last', () => {
  const old: Exchange = {
    kind: 'message',
    text: 'Sort them.',
    last: 0,
    report: 'Done.',
    done: 'edited src/a.ts: `sort()`',
  }
  expect(written([old, ...Array.from({ length: 3 }, () => ({ ...old, text: 'Next.' }))], { tokens: 90 })).toContain(
    '- "Sort them." → Done. The agent edited src/a.ts: `sort()`',
  )
  expect(written([old])).toContain('- User: "Sort them."\n  - did: edited src/a.ts: `sort()`\n  Agent: Done.')
})
