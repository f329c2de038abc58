import { generateWithTruth, session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import type { ContextReport } from './context/report.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const file = folder.write('s.jsonl', generateWithTruth({ seed: 21, turns: 6, boundaries: 1, thinking: 1 }).records)

test('the kinds and what no kind explains add up to the context', async () => {
  const { kinds, unattributed, size, tokens } = await report<ContextReport>('context', file)
  expect(kinds.reduce((sum, kind) => sum + kind.tokens, unattributed)).toBe(size.tokens)
  expect(tokens).toBe(size.tokens)
})

test('the report has the documented fields', async () => {
  expect(Object.keys(await report('context', file)).toSorted()).toEqual([
    'duplicateReads',
    'hint',
    'isAutoCompactOn',
    'isEstimated',
    'kinds',
    'limit',
    'marks',
    'model',
    'path',
    'percentLeft',
    'size',
    'state',
    'tokens',
    'toolServers',
    'unattributed',
    'warnings',
  ])
})

test('right after a compaction the model is still that of the newest answer', async () => {
  const { records } = session()
    .user('hi')
    .assistant('yes', { model: 'claude-opus-4-5', tokens: { input: 9_000 } })
    .boundary({})
    .summary('so far')
  const { model, marks } = await report<ContextReport>('context', folder.write('compacted.jsonl', records))
  expect([model, marks.contextWindow.value]).toEqual(['claude-opus-4-5', 200_000])
})

test('the model is that of the newest answer unless one is given, and the window follows it', async () => {
  const { records } = session()
    .user('hi')
    .assistant('yes', { model: 'claude-opus-4-5', tokens: { input: 9_000 } })
  const path = folder.write('model.jsonl', records)
  const own = await report<ContextReport>('context', path)
  const other = await report<ContextReport>('context', path, '--model', 'claude-opus-5')
  const small = await report<ContextReport>('context', path, '--window', '60k')
  expect([own, other, small].map(({ model, marks }) => [model, marks.contextWindow.value])).toEqual([
    ['claude-opus-4-5', 200_000],
    ['claude-opus-5', 1_000_000],
    ['claude-opus-4-5', 60_000],
  ])
  expect(small.marks.contextWindow.source).toBe('--window')
})

test.each([
  [5, undefined],
  [6, '… and 1 more file'],
])('of %i files that were read twice, five are named', async (files, rest) => {
  const built = session().user('look')
  for (let at = 0; at < 2 * files; at++) {
    const id = `r${at}`
    built.toolUse(id, 'Read', { file_path: `/p/${at % files}.ts` }).toolResult(id, 'const a = 1\n'.repeat(50))
  }
  const { stdout } = await everlong(['context', folder.write(`twice-${files}.jsonl`, built.records)])
  expect(stdout.match(/\/p\/\d\.ts/g)).toHaveLength(5)
  expect(/… and .* more files?/.exec(stdout)?.[0]).toBe(rest)
})

test('the environment holds as everywhere', async () => {
  const { stdout } = await everlong(['context', file, '--json'], { env: { DISABLE_AUTO_COMPACT: '1' } })
  expect(JSON.parse(stdout)).toMatchObject({ isAutoCompactOn: false, limit: 980_000 })
})

test('a window that cannot work is one clear line', async () => {
  const { exitCode, stdout, stderr } = await everlong(['context', file, '--window', '2100'])
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toBe(
    'everlong: A context window of 2,100 tokens (setting contextWindow) less 315 for a summary leaves 1,785 usable tokens; at least 3,000 are needed.\n',
  )
})

test('without any usage the gauge says that it is an estimate', async () => {
  const path = folder.write('fresh.jsonl', session().user('a first word').records)
  const { stdout } = await everlong(['context', path])
  expect(stdout).toContain('all of it estimated')
  expect(stdout).toContain('100 % left until auto-compact (estimated)')
})

test('a context that was compacted long before the threshold hints at a smaller window', async () => {
  const { records } = session()
    .user('begin')
    .boundary({ trigger: 'auto', preTokens: 167_000, postTokens: 9_000 })
    .summary('what was')
    .assistant('on', { model: 'claude-opus-5', tokens: { input: 9_000 } })
  const { hint } = await report<ContextReport>('context', folder.write('hint.jsonl', records))
  expect(hint).toBe(
    'The last automatic compaction came at 167,000 tokens, long before 967,000: the window was smaller. Try --window 200000.',
  )
})
