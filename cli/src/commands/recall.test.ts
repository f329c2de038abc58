import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { textKinds } from 'everlong/internal'
import { session } from 'everlong/internal/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kinds } from '../option-values.ts'
import { everlong } from '../testing/harness.ts'

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

const recall = (...words: readonly string[]) => everlong(['recall', file, ...words])

test('a search shows a card for each match', async () => {
  expect(await recall('find', 'the', 'const', '--until', '2026-03-02T09:00:03Z')).toEqual({
    exitCode: 0,
    stdout: [
      'No match for all words; these match some of them.\n',
      'u1 · 2026-03-02T09:00:01Z · epoch 0 · human',
      '  find the heron',
      't1 · 2026-03-02T09:00:03Z · epoch 0 · tool-result · Read src/heron.ts',
      '  const heron = 1 red\n',
    ].join('\n'),
    stderr: '',
  })
})

test.each([
  [['--tool', 'read', '--kind', 'tool-result'], 1],
  [['--path', 'heron.ts'], 2],
  [['--epoch', '1'], 1],
  [['--kind', 'summary'], 1],
  [['--until', '2026-03-02'], 4],
  [['--limit', '2', '--newest'], 2],
] as const)('with %j it finds %i', async (options, count) => {
  const { stdout } = await recall('heron', ...options, '--json')
  expect(JSON.parse(stdout).matches.length).toBe(count)
})

test('--newest puts the newest first, whatever matches best', async () => {
  const { stdout } = await recall('heron', '--newest', '--json')
  const times = JSON.parse(stdout).matches.map(({ time }: { time: string }) => time)
  expect(times.length).toBe(4)
  expect(times).toEqual(times.toSorted().toReversed())
})

test('what has only some of the words, and that there is more, is said', async () => {
  const { stdout } = await recall('heron giraffe', '--limit', '1')
  const lines = stdout.split('\n')
  expect(lines[0]).toBe('No match for all words; these match some of them.')
  expect(lines.at(-2)).toBe('There are more: narrow the search, or use --limit.')
})

test('a text is read by its id: into a file as it is, on a terminal harmless', async () => {
  expect(await recall('--read', 't1')).toEqual({ exitCode: 0, stdout: 'const heron = 1 \u001b[31mred\n', stderr: '' })
  const { stdout } = await everlong(['recall', file, '--read', 't1'], { isTTY: true })
  expect(stdout).toBe('const heron = 1 \ufffd[31mred\n')
  expect(JSON.parse((await recall('--read', 't1', '--json')).stdout).text).toBe('const heron = 1 \u001b[31mred\n')
})

test('a record that could not be searched is named, whether or not others match', async () => {
  const damaged = join(folder, 'damaged', 'deep.jsonl')
  mkdirSync(dirname(damaged))
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const deep = `{"type":"user","uuid":"deep","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":${nested}}]}}`
  writeFileSync(damaged, `${session().user('a crane').text}${deep}\n`)
  const line = `Not searched: ${damaged}:2 (Maximum call stack size exceeded).`
  const shown = async (word: string) => (await everlong(['recall', damaged, word])).stdout.split('\n')
  expect((await shown('crane')).slice(-3)).toEqual(['', line, ''])
  expect(await shown('giraffe')).toEqual([line, ''])
  const { stdout } = await everlong(['recall', damaged, 'crane', '--json'])
  expect(JSON.parse(stdout).unreadable).toMatchObject([{ path: damaged, line: 2 }])
  rmSync(dirname(damaged), { recursive: true })
})

test('a folder is searched as a whole', async () => {
  expect((await everlong(['recall', folder, 'heron', '--kind', 'human'])).stdout).toContain('find the heron')
})

test.each([
  [['giraffe'], /^everlong: nothing was found\. .*\n$/],
  [['heron', '--since', '2026-03-03'], /^everlong: nothing was found\. .*\n$/],
  [['--read', '../../etc/passwd'], /^everlong: nothing in the archive has the id \.\.\/\.\.\/etc\/passwd\. .*\n$/],
] as const)('%j ends with one clear line and exit code 1', async (words, line) => {
  const { exitCode, stderr } = await recall(...words)
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(line)
})

test('a file that is not there is told, and a wrong number is a wrong command line', async () => {
  const missing = await everlong(['recall', join(folder, 'nothing.jsonl'), 'heron'])
  expect([missing.exitCode, missing.stdout]).toEqual([1, ''])
  expect(missing.stderr).toMatch(/^everlong: .* does not exist\. .*\n$/)
  expect((await recall('--epoch', 'two')).exitCode).toBe(2)
})

test('a kind or a time that is none is a wrong command line, and the kinds are those of the archive', async () => {
  expect(kinds).toEqual(textKinds)
  expect([
    await everlong(['recall', 'x.jsonl', 'heron', '--kind', 'bird']),
    await everlong(['recall', 'x.jsonl', 'heron', '--since', 'yesterday-ish']),
  ]).toEqual([
    {
      exitCode: 2,
      stdout: '',
      stderr: `everlong: option '--kind <kind>' argument 'bird' is invalid. Choose from ${textKinds.join(', ')}. See everlong recall --help.\n`,
    },
    {
      exitCode: 2,
      stdout: '',
      stderr:
        "everlong: option '--since <time>' argument 'yesterday-ish' is invalid. Give a time, such as 2026-03-02. See everlong recall --help.\n",
    },
  ])
})
