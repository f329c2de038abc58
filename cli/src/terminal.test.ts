// What reaches a terminal: colors only where they are wanted, and never a control character from a file.
import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, sessionFolder } from './testing/harness.ts'
import { sampleSession } from './testing/sample-session.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const commands = ['inspect', 'epochs', 'context', 'explain', 'stats', 'fsck', 'tree'] as const
const sample = folder.write('sample.jsonl', sampleSession())
const lines: readonly (readonly string[])[] = [...commands.map((name) => [name, sample]), ['--help']]
const esc = '\u001b'

test.for(lines)('%s has no escape bytes without a terminal or with NO_COLOR', async (words) => {
  const piped = await everlong(words)
  const plain = await everlong(words, { isTTY: true, env: { NO_COLOR: '1', TERM: 'xterm-256color' } })
  expect([piped, plain].map(({ stdout, stderr }) => (stdout + stderr).includes(esc))).toEqual([false, false])
})

test.for(lines.slice(0, -1))('%s has colors on a terminal', async (words) => {
  const { stdout } = await everlong(words, { isTTY: true, env: { TERM: 'xterm-256color' } })
  expect(stdout).toContain(esc)
})

const evil = `${esc}]0;owned\u0007${esc}[31mred${esc}[2J\u009b31m \u202eesrever\u202c \u2066iso\u2069 bell\u0007 back\b\r\ndone\u007f`
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f]/

const poisoned = folder.write(
  'poisoned.jsonl',
  session({ sessionId: `id${evil}`, style: '2.1-late' })
    .user(evil, { fields: { version: `9${evil}` } })
    .assistant([{ type: 'thinking', thinking: evil, signature: '' }], { model: `model${evil}` })
    .toolUse('t1', `Read${evil}`, { file_path: evil }, { model: `model${evil}`, tokens: { input: 500, output: 500 } })
    .toolResult('t1', evil, { isError: true })
    .boundary({ metadata: { trigger: `trigger${evil}` } })
    .summary(evil)
    .attachment(`kind${evil}`, { displayPath: evil, content: evil })
    .toolUse('t2', 'Read', { file_path: evil }, { model: `model${evil}` })
    .toolResult('t2', evil)
    .toolUse('t3', 'Read', { file_path: evil }, { model: `model${evil}` })
    .toolResult('t3', evil)
    .user('orphan', { parent: `parent${evil}` }).records,
)

test('a file name is shown without its controls, in reports and in complaints', async () => {
  const file = folder.write(`name${esc}[31m.jsonl`, session().user('hi').records)
  const shown = await everlong(['inspect', file])
  const missing = await everlong(['inspect', `${file}-no`])
  const unknown = await everlong([`fly${esc}[2J`])
  expect([shown, missing, unknown].map(({ stdout, stderr }) => controls.exec(stdout + stderr))).toEqual([
    null,
    null,
    null,
  ])
})

test('the JSON of a poisoned file is the same value as what was written', async () => {
  const { stdout } = await everlong(['inspect', poisoned, '--json'])
  expect(JSON.parse(stdout).sessionIds).toEqual([`id${evil}`])
})

test('progress is shown on a terminal that waits, and is gone afterwards', async () => {
  const { createProgress } = await import('./progress.ts')
  const written: string[] = []
  let time = 0
  // Some terminals report no width at all.
  const stderr = { isTTY: true, columns: 0, write: (text: string) => written.push(text) } as never
  const progress = createProgress({ stdin: stderr, stdout: stderr, stderr, env: {}, cwd: '', now: () => time })
  progress.show(1, 100)
  expect(written).toEqual([])
  time = 400
  progress.show(50_000_000, 100_000_000, '3 of 9 files')
  // No more often than anybody can read.
  time = 479
  progress.show(51_000_000, 100_000_000, '3 of 9 files')
  progress.clear()
  expect(written).toEqual([
    `${esc}[1G`,
    '███████████████                 50 %  50.0 MB of 100.0 MB  3 of 9 files',
    `${esc}[0K`,
    `${esc}[1G`,
    `${esc}[2K`,
  ])
})
