import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { session } from 'everlong/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RecallArguments, recall } from './recall.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-recall-'))
const file = join(folder, 'session.jsonl')
const cacheBefore = process.env.EVERLONG_CACHE_DIR

beforeAll(() => {
  process.env.EVERLONG_CACHE_DIR = join(folder, 'cache')
  const told = session({ startTime: '2026-03-02T09:00:00.000Z' })
    .user('find the heron')
    .toolUse('t1', 'Read', { file_path: 'src/heron.ts' })
    .toolResult('t1', 'const heron = 1 \u001b[31mred\n')
    .boundary()
    .summary('A heron was looked for.')
  writeFileSync(file, told.text)
})

afterAll(() => {
  if (cacheBefore === undefined) delete process.env.EVERLONG_CACHE_DIR
  else process.env.EVERLONG_CACHE_DIR = cacheBefore
  rmSync(folder, { recursive: true, force: true })
})

function run(options: Partial<RecallArguments>, isTTY = false) {
  const said = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY: isTTY && name === 'stdout',
    write: (text: string) => {
      said[name] += text
    },
  })
  const code = recall({ file, ...options }, { stdout: stream('stdout'), stderr: stream('stderr') })
  return { code, ...said }
}

test('a search prints a card for each match', () => {
  expect(run({ query: 'const heron' })).toEqual({
    code: 0,
    stdout: '1. t1 · 2026-03-02 09:00:03 · epoch 0 · tool-result · Read src/heron.ts\n   const heron = 1 [31mred\n',
    stderr: '',
  })
})

test.each([
  [{ tool: 'read', kind: 'tool-result' }, 1],
  [{ path: 'heron.ts' }, 2],
  [{ epoch: '1' }, 1],
  [{ kind: 'summary' }, 1],
  [{ since: '2026-03-03' }, 0],
  [{ until: '2026-03-02' }, 4],
  [{ limit: '2' }, 2],
] as const)('with %j it finds %i', (options, count) => {
  const { stdout } = run({ query: 'heron', ...options, json: true })
  expect(JSON.parse(stdout).matches.length).toBe(count)
})

test('a text is read by its id, as it is, and harmless on a screen', () => {
  expect(run({ read: 't1' })).toEqual({ code: 0, stdout: 'const heron = 1 \u001b[31mred\n\n', stderr: '' })
  expect(run({ read: 't1' }, true).stdout).toBe('const heron = 1 \ufffd[31mred\n\n')
  expect(JSON.parse(run({ read: 't1', json: true }).stdout).text).toBe('const heron = 1 \u001b[31mred\n')
})

test.each([
  [{ query: 'giraffe' }, 'Nothing was found.\n'],
  [{ read: '../../etc/passwd' }, 'Nothing in the archive has the id "../../etc/passwd".\n'],
  [{ kind: 'bird' }, /^"kind" must be one of .*\n$/],
  [{ epoch: 'two' }, '"epoch" must be a whole number.\n'],
  [{ since: 'soon' }, '"since" and "until" must be times, such as 2026-03-02.\n'],
  [{ file: '/nowhere/at/all.jsonl' }, /^ENOENT: no such file or directory, .*\n$/],
] as const)('%j ends with one clear line and exit code 1', (options, line) => {
  const { code, stdout, stderr } = run(options)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(line)
})
