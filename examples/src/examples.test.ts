// Every example as a user runs it: a separate process, the real packages, over HTTP against the simulator.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { type RunOptions, runExample } from './simulated/run.ts'

// What the examples and the archive put into the temporary and the cache folder.
const folder = mkdtempSync(join(tmpdir(), 'everlong-examples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const env = { TMPDIR: folder, EVERLONG_CACHE_DIR: join(folder, 'cache') }

async function said(name: string, options: RunOptions = {}): Promise<readonly string[]> {
  const { exitCode, lines, stderr } = await runExample(name, { env, ...options })
  expect([exitCode, stderr.replace(/^.*ExperimentalWarning: SQLite[\s\S]*$/m, '')]).toEqual([0, ''])
  return lines
}

/** Number of compactions. Each must leave less than half. */
function compactions(lines: readonly string[]): number {
  const sizes = lines.flatMap((line) => {
    const [, before, after] = /^compacted: (\d+) → (\d+) tokens$/.exec(line) ?? []
    return before === undefined ? [] : [Number(after) < Number(before) / 2]
  })
  expect(sizes).not.toContain(false)
  return sizes.length
}

test('the newcomer’s ten lines work as they are', async () => {
  const [line] = await said('ten-lines')
  expect(line).toMatch(/^prepared: ready; found again: [1-9]\d*; \d+ % left$/)
})

test('what a session prepared can be sent with the official SDK', async () => {
  const lines = await said('any-client')
  expect(lines).toHaveLength(3)
  for (const line of lines) expect(line).toMatch(/^\d+ tokens in, \d+ in the context, \d+ % left$/)
})

test('a list of messages becomes a shorter one, and the rule is still there', async () => {
  const [sizes, rule] = await said('compact-messages')
  expect(rule).toBe('the rule is still there: true')
  const [, from = 0, to = 0] = /^41 messages became \d+; (\d+) tokens became (\d+)$/.exec(sizes ?? '') ?? []
  expect(Number(to)).toBeLessThan(Number(from) / 2)
})

test('a host with a tool continues through compactions', async () => {
  const lines = await said('host')
  expect(lines.filter((line) => line.startsWith('day '))).toHaveLength(8)
  expect(compactions(lines)).toBeGreaterThan(0)
})

test('the tool runner of the official SDK continues through compactions', async () => {
  const lines = await said('anthropic-tools')
  expect(compactions(lines)).toBeGreaterThan(1)
  expect(lines.at(-1)).toMatch(/^13 replies, \d+ messages in the runner$/)
})

test('an agent of LangChain continues through compactions', async () => {
  const counts = (await said('langchain-agent')).map((line) => Number(/: (\d+) messages/.exec(line)?.[1]))
  expect(counts).toHaveLength(10)
  expect(Math.max(...counts)).toBeLessThan(20)
})

test('a chat on the AI SDK continues through compactions', async () => {
  const lines = await said('ai-sdk-chat')
  expect(lines.filter((line) => line.startsWith('day '))).toHaveLength(8)
  expect(compactions(lines)).toBeGreaterThan(0)
})

test('an agent of the OpenAI Agents SDK continues through compactions', async () => {
  const counts = (await said('openai-agent')).map((line) => Number(/: (\d+) items/.exec(line)?.[1]))
  expect(counts).toHaveLength(10)
  expect(Math.max(...counts)).toBeLessThan(20)
})

test('the summary is written by the model that was chosen for it', async () => {
  const { lines, asked } = await runExample('summarizer-model')
  expect(asked).toEqual(['claude-opus-5', 'claude-opus-5', 'claude-opus-5', 'claude-haiku-4-5'])
  expect(lines[0]).toBe('compacted: 1 messages left')
  expect(lines.slice(1).map((line) => line.replace(/[\d.]+$/, '…'))).toEqual([
    'turn: 3 requests, $…',
    'compact: 1 requests, $…',
  ])
})

test('hooks refuse a compaction, add context, and are told what became of it', async () => {
  const [refused, compacted, told] = await said('hooks')
  expect([refused, told]).toEqual(['refused: A deployment is running.', 'told: true'])
  expect(compacted).toMatch(/^compacted: \d+ → \d+ tokens$/)
})

test('the agent recalls what a compaction took out of the context', async () => {
  expect(await said('recall-tool')).toEqual(['recalled: true', '[{"type":"text","text":"It was 0x5f3a99."}]'])
})

test('a dry run shows the numbers and the plan, and changes nothing', async () => {
  const lines = await said('dry-run')
  expect(lines.map((line) => line.replace(/\d+/g, 'n'))).toEqual([
    'window n (setting contextWindow), usable n',
    'compacts at n (setting autoCompactAt)',
    'now n tokens, n % left: ok',
    'a compaction would summarize n of n tokens, keep n, and leave at most n',
    'ways to a summary, in order: offline',
    'messages, unchanged: n',
  ])
})

test('of all polls only the newest is in the request', async () => {
  expect(await said('custom-mechanism')).toEqual([1, 2, 3, 4].map((poll) => `poll ${poll}: in the request: ${poll}`))
})

test('a folder of transcripts is counted and searched', async () => {
  const transcripts = join(folder, 'transcripts')
  mkdirSync(transcripts)
  const { records } = session().user('Plan the migration.').assistant('Three releases.', { model: 'claude-sonnet-4-5' })
  writeFileSync(join(transcripts, 'one.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const [sessions, match, ...more] = await said('transcripts-folder', { words: [transcripts] })
  expect(sessions).toMatch(/^one\.jsonl: [1-9]\d* tokens, 0 compactions$/)
  expect([match, more]).toEqual(['one.jsonl, after 0 compactions: Plan the migration.', []])
})

const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))

test.each(files)('%s has at most 60 lines', (name) => {
  expect(
    readFileSync(join(import.meta.dirname, name), 'utf8')
      .trimEnd()
      .split('\n').length,
  ).toBeLessThanOrEqual(60)
})

test.each(files)('%s is listed in docs/examples.md', (name) => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/examples.md'), 'utf8')).toContain(
    `](../examples/src/${name})`,
  )
})
