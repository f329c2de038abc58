import { expect, test } from 'vitest'
import { type Exchange, emptyLedger } from '../ledger/facts.ts'
import { latestRequest } from './assemble.ts'

test('the latest request is what the user last asked for: an answer, an approval or a bare rejection asks for nothing', () => {
  const said = (kind: Exchange['kind'], text: string): Exchange => ({ kind, text, last: 0 })
  const latest = (...exchanges: readonly Exchange[]) => latestRequest({ ...emptyLedger, exchanges })?.text
  const asked = said('message', 'Fix the bug.')
  expect(latest()).toBe(undefined)
  expect(latest(asked, said('answer', 'Green'), said('approval', ''), said('rejection', ''))).toBe('Fix the bug.')
  expect(latest(asked, said('rejection', 'Use make instead.'))).toBe('Use make instead.')
  expect(latest(asked, said('queued', 'And hurry.'))).toBe('And hurry.')
  expect(latest(said('task', 'Count the doors.'))).toBe('Count the doors.')
})
