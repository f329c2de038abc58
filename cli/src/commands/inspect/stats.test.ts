import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { clientStyles, generateWithTruth, session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../../testing/harness.ts'
import type { StatsReport } from './stats.ts'

const folder = sessionFolder()
afterAll(folder.remove)

test('the figures of fifty sessions are the sum of their parts', async () => {
  const many = join(folder.path, 'many')
  const truths = Array.from({ length: 50 }, (_, seed) => {
    const place = join(many, `project-${seed % 7}`)
    mkdirSync(place, { recursive: true })
    const style = clientStyles[seed % clientStyles.length]
    const { records, truth } = generateWithTruth({ seed, turns: 3, boundaries: seed % 4, ...(style ? { style } : {}) })
    cpSync(folder.write('next.jsonl', records), join(place, `${seed}.jsonl`))
    return { path: join(place, `${seed}.jsonl`), truth }
  })
  const all = await report<StatsReport>('stats', many)
  const parts = await Promise.all(truths.map(({ path }) => report<StatsReport>('stats', path)))
  const sum = (pick: (part: StatsReport) => number) => parts.reduce((total, part) => total + pick(part), 0)
  expect({
    files: all.files,
    sessions: all.sessions,
    compactions: all.compactions,
    withCompactions: all.withCompactions,
    mostInOneSession: all.mostInOneSession,
    entries: all.entries,
    bytes: all.bytes,
    answers: all.models.reduce((total, { answers }) => total + answers, 0),
    dollars: all.cost.dollars.toFixed(6),
    estimated: all.compactionCost.estimated.dollars.toFixed(6),
  }).toEqual({
    files: 50,
    sessions: 50,
    compactions: truths.reduce((total, { truth }) => total + truth.boundaries, 0),
    withCompactions: truths.filter(({ truth }) => truth.boundaries > 0).length,
    mostInOneSession: 3,
    entries: truths.flatMap(({ truth }) => truth.epochs).reduce((total, epoch) => total + epoch.entries, 0),
    bytes: sum((part) => part.bytes),
    answers: truths.reduce((total, { truth }) => total + truth.answers.length, 0),
    dollars: sum((part) => part.cost.dollars).toFixed(6),
    estimated: sum((part) => part.compactionCost.estimated.dollars).toFixed(6),
  })
})

test("compaction's own cost stands apart: measured where its run was recorded, estimated where not", async () => {
  const place = join(folder.path, 'cost')
  mkdirSync(join(place, 'one', 'subagents'), { recursive: true })
  const model = 'claude-sonnet-4-5'
  const main = session({ sessionId: 'one' })
    .user('begin')
    .assistant('yes', { model, tokens: { input: 1_000_000, output: 0 } })
    .boundary({ trigger: 'auto', preTokens: 1_000_000 })
    .summary('s'.repeat(3_000))
    .assistant('on', { model, tokens: { input: 0, output: 1_000_000 } })
    .boundary({ trigger: 'manual', preTokens: 500_000 })
    .summary('s'.repeat(300))
  const recorded = session({ sessionId: 'one' })
    .user('sum up')
    .assistant('so', { model, tokens: { input: 100_000, output: 10_000 } })
  cpSync(folder.write('main.jsonl', main.records), join(place, 'one.jsonl'))
  cpSync(folder.write('run.jsonl', recorded.records), join(place, 'one', 'subagents', 'agent-acompact-7.jsonl'))
  const { cost, compactionCost } = await report<StatsReport>('stats', place)
  expect({
    cost: cost.dollars,
    recorded: [compactionCost.recorded.compactions, compactionCost.recorded.dollars],
    estimated: [compactionCost.estimated.compactions, compactionCost.estimated.dollars],
  }).toEqual({
    cost: 3 + 15,
    recorded: [1, 0.45],
    estimated: [1, 0.315],
  })
})

test('a file that cannot be read is named, and the rest is counted', async () => {
  const file = folder.write('good.jsonl', session().user('hi').assistant('yes').records)
  const missing = join(folder.path, 'missing.jsonl')
  const { exitCode, stdout } = await everlong(['stats', missing, file])
  expect(exitCode).toBe(1)
  expect(stdout).toContain('Could not be read: 1')
  expect(stdout).toContain('missing.jsonl')
  expect(stdout).toMatch(/sessions {2}1$/m)
})

test('a name that leads nowhere is one clear line', async () => {
  const { exitCode, stderr } = await everlong(['stats', join(folder.path, 'nowhere')])
  expect([exitCode, stderr.split('\n').length]).toEqual([1, 2])
  expect(stderr).toMatch(/nowhere does not exist\./)
})

test('a folder without transcripts is one clear line', async () => {
  const place = join(folder.path, 'nothing')
  mkdirSync(place)
  const { exitCode, stderr } = await everlong(['stats', place])
  expect([exitCode, stderr]).toEqual([
    1,
    `everlong: no transcripts (.jsonl) in ${place}. Claude Code keeps its sessions in ~/.claude/projects.\n`,
  ])
})

test('the report has the documented fields', async () => {
  const found = await report('stats', folder.write('shape.jsonl', session().user('hi').assistant('yes').records))
  expect(Object.keys(found)).toEqual([
    'paths',
    'sessions',
    'subagentFiles',
    'withCompactions',
    'compactions',
    'byTrigger',
    'mostInOneSession',
    'medianMessagesBetween',
    'medianTokensBefore',
    'medianTokensAfter',
    'summaryRounds',
    'entries',
    'orphans',
    'salvaged',
    'repeatedAnswers',
    'files',
    'bytes',
    'unreadable',
    'withoutConversation',
    'models',
    'cost',
    'compactionCost',
  ])
})

const noTranscript = (path: string) =>
  `everlong: ${path} does not look like a transcript: no entry of a conversation was found in it. It can be one of Claude Code, Codex, pi, Gemini CLI, Copilot CLI, Cursor or opencode.\n`

test('a named file that is no transcript is one clear line and no session', async () => {
  const other = folder.writeBytes('package.jsonl', '{"name":"x","version":"1.0.0"}\n')
  const empty = folder.writeBytes('empty.jsonl', '')
  expect([await everlong(['stats', other]), await everlong(['stats', empty])]).toEqual([
    { exitCode: 1, stdout: '', stderr: noTranscript(other) },
    { exitCode: 1, stdout: '', stderr: `everlong: ${empty} is empty.\n` },
  ])
  const good = folder.write('good.jsonl', session().user('hi').assistant('yes').records)
  const { exitCode, stdout, stderr } = await everlong(['stats', good, other])
  expect([exitCode, stderr]).toEqual([1, noTranscript(other)])
  expect(stdout).toMatch(/^ {2}files {5}2, .*, 1 without a conversation$\n^ {2}sessions {2}1$/m)
})

test('in a folder such files are counted, and are an error only when there is nothing else', async () => {
  const place = join(folder.path, 'mixed')
  mkdirSync(place)
  folder.writeBytes('mixed/leaf.jsonl', '{"type":"summary","summary":"About herons","leafUuid":"u1"}\n')
  expect(await everlong(['stats', place])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `everlong: no file (.jsonl) below ${place} holds a conversation. Claude Code keeps its sessions below ~/.claude/projects.\n`,
  })
  folder.write('mixed/good.jsonl', session().user('hi').assistant('yes').records)
  const found = await report('stats', place)
  expect(found).toMatchObject({ files: 2, sessions: 1, withoutConversation: [join(place, 'leaf.jsonl')] })
})

test('models without a known price are named beside the sum', async () => {
  const talk = session()
    .user('hi')
    .assistant('yes', { model: 'house-model-1', tokens: { input: 100, output: 10 } })
  const file = folder.write('unpriced.jsonl', talk.records)
  expect((await report<StatsReport>('stats', file)).cost).toEqual({ dollars: 0, withoutPrice: ['house-model-1'] })
  const { stdout } = await everlong(['stats', file])
  expect(stdout).toContain('in all  $0.00 (without house-model-1: no price known)')
})
