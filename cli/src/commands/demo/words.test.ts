import { spawnSync } from 'node:child_process'
import { outcomeOf, subjectOf } from '@everlong/agent/render'
import type { EngineEvent } from 'everlong'
import type { Explanation } from 'everlong/internal/compaction'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shellWord } from '../../render/shell.ts'
import { createChronicle, restorationInWords } from './acts.ts'

const noTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
const chain = { isRecompaction: false, threshold: 31_000, source: 'turn' } as const
const unpaid = { usage: noTokens, attempts: 0, tried: [], durationMs: 5 }
const finished = {
  ...unpaid,
  type: 'compaction-finished',
  trigger: 'auto',
  tokensBefore: 32_000,
  tokensAfter: 18_500,
  chain,
} as const

function actsOf(...events: readonly EngineEvent[]) {
  const chronicle = createChronicle()
  for (const event of events) chronicle.onEvent(event, {} as Explanation)
  return chronicle.take().map(({ name, words }) => [name, words])
}

test('each act is told in plain words with its numbers, and others are not told', () => {
  expect(
    actsOf(
      { type: 'threshold-checked', tokens: 1, threshold: 2, effectiveWindow: 3, freedBySnips: 0, source: 'turn' },
      { type: 'micro-compacted', mechanism: 'micro-by-size', results: 1, tokensBefore: 31_200, tokensAfter: 18_400 },
      { type: 'memory-extracted', tokens: 1_126, usage: noTokens, cost: 0.0021 },
      { ...finished, mechanism: 'session-memory', durationMs: 12, usage: noTokens, restored: 0 },
      {
        ...finished,
        mechanism: 'full',
        durationMs: 2_840,
        usage: { ...noTokens, output: 900 },
        cost: 0.04,
        restored: 0,
      },
      { type: 'compaction-failed', trigger: 'manual', reason: 'aborted', why: 'It was stopped.', ...unpaid },
      { type: 'compaction-failed', trigger: 'auto', reason: 'no-progress', why: 'It frees too little.', ...unpaid },
    ),
  ).toEqual([
    ['micro-compact', '1 old tool result cleared, 31,200 → 18,400 tokens; nothing lost'],
    ['session memory', 'notes brought up to date in the background: 1,126 tokens, $0.0021'],
    ['compaction', 'from the notes, no model asked, 32,000 → 18,500 tokens in 12 ms'],
    ['full compaction', 'a summary of 900 tokens, 32,000 → 18,500 tokens in 2.8 s, $0.0400'],
    ['trouble', 'no compaction: It frees too little.'],
  ])
})

test('what was restored is read from the records of a compaction', () => {
  const piece = (type: string, content: string) => ({ type: 'attachment', attachment: { type, content } })
  const part = 'File /repo/a/src/c.ts (lines 1–5 of 9; the whole file has 700 tokens)\n1'
  const files = [piece('files', 'File /repo/a/src/b.ts\n1'), piece('files', part)]
  const records = [{ type: 'system' }, piece('todos', 'To-do list'), ...files]
  expect(restorationInWords(records)).toBe('2 files (b.ts, c.ts) and the to-do list restored, as they are now')
  expect(restorationInWords([{ type: 'system' }, piece('not_restored', 'c.ts')])).toBe(undefined)
})

test.for([
  ['Read', { file_path: '/repo/a/src/b.ts' }, '1\n2', 'src/b.ts', '2 lines'],
  ['Bash', { command: 'npm test' }, 'x\n      Tests  2 failed | 8 passed (10)', 'npm test', '2 failed, 8 passed'],
  ['Bash', { command: 'true' }, '', 'true', 'no output'],
  ['TodoWrite', { todos: [1, 2] }, 'Saved.', '0 of 2 done', 'noted'],
  ['recall', { query: 'limit' }, 'a', '“limit”', '1 line'],
] as const)('a call of %s is one short line', ([name, input, output, subject, outcome]) => {
  const call = { name, input, output, isError: false }
  expect([subjectOf(call, '/repo/a'), outcomeOf(call)]).toEqual([subject, outcome])
})

test.for([
  ['Read', '[image]', 'an image'],
  ['Read', 'src/a.ts is unchanged since you read it: its text is above.', 'unchanged'],
  ['EnterPlanMode', 'Plan mode is on. Look at what you need.', 'plan mode is on'],
  ['ExitPlanMode', 'The user agrees to the plan. Plan mode is off: carry it out.', 'you agreed'],
] as const)('what %s says to the model is short for a person', ([name, output, outcome]) => {
  expect(outcomeOf({ name, input: {}, output, isError: false })).toBe(outcome)
})

test('a stopped command says so without what it says to the model', () => {
  const output = 'The command was stopped by the user. Output until then:\nbegun'
  expect(outcomeOf({ name: 'Bash', input: {}, output, isError: true })).toBe('The command was stopped by the user.')
})

test('a word for the shell is taken for itself, whatever is in it', () => {
  const texts = fc.sample(fc.string({ unit: 'grapheme' }), 40).map((text) => text.replaceAll('\0', ''))
  const words = [...texts, "it's", '$(date)', '', '/tmp/a b'].map(shellWord).join(' ')
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\0' ${words}`], { encoding: 'utf8' })
  expect(stdout.split('\0').slice(0, -1)).toEqual([...texts, "it's", '$(date)', '', '/tmp/a b'])
})
