import { expect, test } from 'vitest'
import { emptyLedger, type FileFact, type Ledger } from '../../ledger/facts.ts'
import { stateLines } from './state.ts'

function changed(path: string, changedLast: number): FileFact {
  return {
    path,
    reads: 0,
    changes: 1,
    created: false,
    act: 'edited',
    last: changedLast,
    changedLast,
    seen: [],
    changed: [],
  }
}

const ledger: Ledger = {
  ...emptyLedger,
  root: '/w',
  files: [changed('/w/src/old.ts', 3), changed('/w/src/new.ts', 7), changed('/other/x.ts', 8)],
  commits: [{ hash: '1a2b3c4', title: 'Start', last: 5 }],
}

test('what was changed since the last commit is named, as the working folder would name it', () => {
  expect(stateLines({ ledger, shown: '' })).toEqual([
    'The session started in /w.',
    'Changed since the last commit and not seen to be committed: src/new.ts, /other/x.ts.',
    'Commits made in this session:',
    '- 1a2b3c4 "Start"',
    'Not seen to be pushed: 1a2b3c4.',
  ])
})

test('a workspace that was asked knows better what is committed', () => {
  expect(stateLines({ ledger, workspace: 'Branch: main.', shown: '1a2b3c4' })).toEqual(['Branch: main.'])
})

test('without a commit in the session nothing is said about what is uncommitted', () => {
  expect(stateLines({ ledger: { ...ledger, commits: [] }, shown: 'in /w' })).toEqual([])
})

test('a quiet commit, or any other git command that may have made one, ends what is known of it', () => {
  const quiet: Ledger = { ...ledger, repository: { ...ledger.repository, gitLast: Number.MAX_SAFE_INTEGER } }
  expect(stateLines({ ledger: quiet, shown: '' }).join('\n')).not.toContain('not seen to be committed')
  expect(stateLines({ ledger, shown: '' }).join('\n')).toContain('not seen to be committed')
})
