import { expect, test } from 'vitest'
import { assistant, call, human, type Said } from '../../testing/talk.ts'
import { type Exchange, emptyLedger } from '../ledger/facts.ts'
import { createLedger } from '../ledger/ledger.ts'
import { frameOf, latestRequest, progressOn } from './assemble.ts'
import type { CompactionJob } from './job.ts'
import type { Planned } from './plan.ts'

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

test('a request is new until the agent says or does something about it, and answered when its turn ends with words', () => {
  const progress = (...parts: readonly (Said | readonly Said[])[]) => {
    const book = createLedger()
    for (const { message, record } of parts.flat()) book.add(message, record)
    const ledger = book.ledger()
    const latest = latestRequest(ledger)
    return latest && progressOn(latest, ledger)
  }
  const [asked, edit] = [human('Fix the bug.'), call({ name: 'Edit', input: { file_path: 'a.ts', new_string: 'x' } })]
  const stop = human('[Request interrupted by user]')
  expect(progress(assistant('Hello.'), asked)).toBe('new')
  expect(progress(asked, stop)).toBe('new')
  expect(progress(asked, edit)).toBe('begun')
  expect(progress(asked, assistant('I look.'), edit)).toBe('begun')
  expect(progress(asked, edit, assistant('Fixed.'))).toBe('answered')
  expect(progress(asked, edit, assistant('Fixed, and'), stop)).toBe('begun')
})

test.for<readonly [string, Exchange, readonly string[], string, string | undefined]>([
  [
    'typed while the agent worked, and in no message yet',
    { kind: 'queued', text: 'And hurry.', last: 0 },
    ['And hurry.'],
    'full',
    'ends',
  ],
  [
    'queued and sent since',
    { kind: 'queued', text: 'And hurry.', last: 0, uuid: 'u' },
    ['And hurry.'],
    'full',
    undefined,
  ],
  ['queued, with nothing waiting', { kind: 'queued', text: 'And hurry.', last: 0 }, [], 'full', undefined],
  ['a message', { kind: 'message', text: 'Go.', last: 0 }, ['And hurry.'], 'full', undefined],
  ['a message that is kept', { kind: 'message', text: 'Go.', last: 0 }, [], 'up-to', 'follows'],
])('where the latest request is that the summarizer has not seen: %s', ([, latest, queued, variant, unseen]) => {
  const job = { queued, trigger: 'auto', counting: {}, view: { sources: [] } } as unknown as CompactionJob
  const plan = {
    parts: { variant },
    kept: [],
    tokens: { limit: 100_000, kept: 0, handover: 12_000 },
  } as unknown as Planned
  const frame = frameOf(job, plan, { ...emptyLedger, messages: 0, exchanges: [latest] })
  expect(frame.unseen).toBe(unseen)
})
