import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { offline } from 'everlong'
import {
  clientStyles,
  generateCodexRollout,
  generatePiSession,
  generateWithTruth,
  keptLayouts,
  session,
} from 'everlong/internal/testing'
import { createEngine } from 'everlong/node'
import { afterAll, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import type { InspectReport } from './inspect/overview.ts'

const folder = sessionFolder()
afterAll(folder.remove)

test.for(clientStyles.flatMap((style) => keptLayouts.map((kept) => ({ style, kept }))))(
  'what inspect says of a session in style $style with kept messages "$kept" is what its maker knows',
  async ({ style, kept }) => {
    const { records, truth } = generateWithTruth({ seed: 7, style, kept, turns: 8, boundaries: 2, interrupted: 0.3 })
    const file = folder.write(`${style}-${kept}.jsonl`, records)
    const { boundaries, epochs, compactions, live, salvaged, orphans, errors } = await report<InspectReport>(
      'inspect',
      file,
    )
    const { uuids, trailing: _, ...counts } = truth.live
    const triggers = truth.epochs.flatMap(({ boundary }) => (boundary ? [boundary.trigger] : []))
    expect({ boundaries, epochs, live, salvaged, errors }).toEqual({
      boundaries: truth.boundaries,
      epochs: truth.boundaries + 1,
      live: { entries: uuids.length, ...counts },
      salvaged: 0,
      errors: 0,
    })
    expect(compactions).toEqual(
      Object.fromEntries(
        [...new Set(triggers)].map((trigger) => [trigger, triggers.filter((own) => own === trigger).length]),
      ),
    )
    expect(orphans).toBe(0)
  },
)

test('the report has every documented field, and what is not known is null', async () => {
  const file = folder.write('shape.jsonl', generateWithTruth({ seed: 1, turns: 2 }).records)
  const found = await report('inspect', file)
  expect(Object.keys(found)).toEqual([
    'path',
    'format',
    'versions',
    'sessionIds',
    'bytes',
    'lines',
    'records',
    'types',
    'epochs',
    'boundaries',
    'compactions',
    'undone',
    'from',
    'to',
    'live',
    'stop',
    'context',
    'subagents',
    'toolResultFiles',
    'salvaged',
    'orphans',
    'errors',
    'notes',
    'findings',
    'warnings',
  ])
  expect(Object.keys(Object(found.context))).toEqual([
    'model',
    'window',
    'size',
    'state',
    'percentLeft',
    'tokens',
    'limit',
    'isAutoCompactOn',
    'isEstimated',
  ])
})

test('sessions of pi and Codex are inspected too', async () => {
  const pi = generatePiSession({ seed: 3, compactions: 2 })
  const codex = generateCodexRollout({ seed: 3, compactions: 1 })
  const ofPi = await report<InspectReport>('inspect', folder.write('pi.jsonl', pi.records))
  const ofCodex = await report<InspectReport>('inspect', folder.write('codex.jsonl', codex.records))
  expect([ofPi.format, ofPi.boundaries, ofCodex.format, ofCodex.boundaries]).toEqual(['pi', 2, 'codex', 1])
})

test('sub-agents are counted where they are', async () => {
  const { records, truth } = generateWithTruth({ seed: 5, style: '1.0', subagents: 'inline', turns: 3 })
  const found = await report<InspectReport>('inspect', folder.write('agents.jsonl', records))
  expect(found.subagents).toEqual({
    agents: truth.sidechains.length,
    compactionRuns: 0,
    inside: truth.sidechains.length,
    beside: 0,
    folder: 0,
  })
})

test('runs that made a summary are counted apart from sub-agents', async () => {
  const own = session({ sessionId: 's9' }).user('hi').assistant('yes')
  const file = folder.write('s9.jsonl', own.records)
  const run = session({ sessionId: 's9' }).user('sum it up', {
    fields: { isSidechain: true, agentId: 'acompact-1' },
  })
  mkdirSync(join(folder.path, 's9', 'subagents'), { recursive: true })
  folder.write('s9/subagents/agent-acompact-1.jsonl', run.records)
  const found = await report<InspectReport>('inspect', file)
  expect(found.subagents).toEqual({ agents: 0, compactionRuns: 1, inside: 0, beside: 0, folder: 0 })
})

test('only an automatic compaction says something about the window', async () => {
  const after = (trigger: string) =>
    session()
      .user('hi')
      .boundary({ metadata: { trigger, preTokens: 20_000 } })
      .summary('hello')
      .user('go on')
      .assistant('yes')
  const [auto, manual] = await Promise.all(
    ['auto', 'manual'].map((trigger) =>
      report<InspectReport>('inspect', folder.write(`by-${trigger}.jsonl`, after(trigger).records)),
    ),
  )
  expect([auto?.warnings, manual?.warnings]).toEqual([[expect.stringContaining('Try --window')], []])
})

test('a file that is no transcript is said to be none, and JSON has what could be read', async () => {
  const file = folder.writeBytes('notes.txt', '{"name":"a package"}\nsome text\n')
  const { exitCode, stdout, stderr } = await everlong(['inspect', file, '--json'])
  expect(exitCode).toBe(1)
  expect(stderr).toBe(
    `everlong: ${file} does not look like a transcript: no entry of a conversation was found in it. It can be one of Claude Code, Codex, pi, Gemini CLI, Copilot CLI, Cursor or opencode.\n`,
  )
  expect(JSON.parse(stdout)).toMatchObject({ lines: 2, records: 1, live: { entries: 0 }, errors: 1 })
})

test('an empty file is called empty', async () => {
  const { exitCode, stdout, stderr } = await everlong(['inspect', folder.writeBytes('empty.jsonl', '')])
  expect([exitCode, stdout, stderr]).toEqual([1, '', `everlong: ${join(folder.path, 'empty.jsonl')} is empty.\n`])
})

test('a setting that cannot work is a warning here, not the end', async () => {
  const file = join(folder.path, 'setting.jsonl')
  writeFileSync(file, '{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"hello"}}\n')
  const { exitCode, stdout } = await everlong(['inspect', file, '--json'], {
    env: { EVERLONG_AUTO_COMPACT_WINDOW: '2100' },
  })
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ context: null, warnings: [expect.stringContaining('2,100')] })
})

test('after a compaction was taken back, the live window is the one from before it', async () => {
  const path = join(folder.path, 'undone.jsonl')
  const engine = createEngine({ model: { ...offline(), model: 'claude-opus-4-5' }, environment: {} })
  const session = await engine.start({ path })
  for (const nth of [1, 2, 3, 4]) {
    session.add({ role: 'user', content: `Question ${nth}: ${'lorem ipsum '.repeat(800)}` })
    session.add({ role: 'assistant', content: `Answer ${nth}.` })
  }
  const before = await report<InspectReport>('inspect', path)
  expect(await session.compact()).toMatchObject({ type: 'compacted' })
  const compacted = await report<InspectReport>('inspect', path)
  expect(compacted).toMatchObject({ compactions: { manual: 1 }, undone: 0 })
  await session.undo()
  const { live, stop, boundaries, compactions, undone } = await report<InspectReport>('inspect', path)
  expect(compacted.live.messages).toBe(0)
  const none = { boundaries: 1, compactions: {}, undone: 1 }
  expect({ live, stop, boundaries, compactions, undone }).toEqual({ live: before.live, stop: 'root', ...none })
  expect((await everlong(['inspect', path])).stdout).toContain('1; 1 compaction undone')
  expect(await session.compact()).toMatchObject({ type: 'compacted' })
  await session.close()
  expect((await everlong(['inspect', path])).stdout).toContain('2, by 1 compaction: 1 manual; 1 compaction undone')
})

test('the sequence that the first clients wrote is one story: the epochs, the live window and the sizes agree', async () => {
  const legacy = (message: string, metadata?: object) => ({ type: 'compact_system', uuid: message, message, metadata })
  const { records } = session()
    .user('old')
    .assistant('kept')
    .raw(legacy('conversation_compacting'))
    .raw(
      legacy('conversation_compacted', {
        ...{ trigger: 'automatic', preservedMessages: 1, totalMessages: 500, compressionRatio: 0.03 },
        ...{ tokenCount: 155_234, reducedTokenCount: 8_500 },
      }),
    )
    .user('go on', { parent: null, fields: { logicalParentUuid: 'a1' } })
    .raw(legacy('conversation_restored'))
    .assistant('going', { parent: 'u2' })
  const file = folder.write('first-clients.jsonl', records)
  const { stdout } = await everlong(['inspect', file])
  expect(stdout).toContain('2, by 1 compaction: 1 auto')
  expect(stdout).toContain('Live window  since the last compaction')
  expect(await report<InspectReport>('inspect', file)).toMatchObject({
    ...{ stop: 'boundary', boundaries: 1, orphans: 0, errors: 0 },
    live: { entries: 4, assistantLines: 2, userLines: 1 },
  })
  expect((await everlong(['epochs', file])).stdout).toMatch(/auto +155k +8\.5k .* 1 of 500 +0\.03/)
  expect((await everlong(['tree', file])).stdout).toContain('auto · 155k → 8.5k · 1 of 500 messages kept')
})

test('the trigger that a transcript names cannot steer the terminal', async () => {
  const { text } = session()
    .user('one')
    .assistant('two')
    .boundary({ trigger: '\u001b[2J\u001b]0;owned\u0007' as never })
    .summary('so far')
    .user('three')
  const { stdout } = await everlong(['inspect', folder.writeBytes('hostile.jsonl', text)])
  expect(stdout).toContain('by 1 compaction')
  expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})

test('a session of Everlong is called that, although it has the format of Claude Code', async () => {
  const { records } = session().user('Hello.').assistant('Hi.')
  const ours = folder.write(
    'ours.jsonl',
    records.map(({ version: _, ...record }) => record),
  )
  const theirs = folder.write(
    'theirs.jsonl',
    records.map((record) => ({ ...record, version: '2.1.226' })),
  )
  const lines = await Promise.all([ours, theirs].map(async (path) => (await everlong(['inspect', path])).stdout))
  expect(lines.map((text) => / records, (.*)/.exec(text)?.[1])).toEqual(['Everlong', 'Claude Code 2.1.226'])
})
