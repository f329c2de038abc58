import { expect, test } from 'vitest'
import { type Exchange, emptyLedger } from '../../ledger/facts.ts'
import { omittedTerms } from './omitted.ts'

test('names are hints, words that would find anything are not, and nothing that the page shows is', () => {
  const reports = [
    'It tracks the lock and tracks it again in parseGate.',
    'We met in Berlin. Berlin was cold, very cold.',
    'Only one Monday was free, and the frame was lost, lost for good.',
    'See hinge.css.',
  ]
  const exchanges = reports.map((report, last): Exchange => ({ kind: 'message', text: 'Next?', report, last }))
  const ledger = { ...emptyLedger, exchanges }
  expect(omittedTerms(ledger, 'The page.')).toEqual(['parseGate', 'Berlin', 'hinge.css'])
  expect(omittedTerms(ledger, 'The page has ParseGate and berlin.')).toEqual(['hinge.css'])
  expect(omittedTerms({ ...ledger, exchanges: exchanges.slice(1) }, '')).toEqual([])
})
