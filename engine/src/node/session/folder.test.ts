import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { generateCodexRollout, generateWithTruth, serialize, session } from '../../testing/index.ts'
import { openIndex } from '../index/sidecar.ts'
import { scanFile } from '../read/entries.ts'
import { findTranscripts } from '../read/stats.ts'
import { findSubagents } from '../read/subagents.ts'
import { collectStatistics } from '../testing/sessions.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-folder-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const write = (name: string, text: string): string => {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}

describe('sub-agents', () => {
  const agentText = (agentId: string, sessionId: string) =>
    session({ sessionId }).user('do it', { fields: { isSidechain: true, agentId } }).text

  test('are found beside the session and in its folder, with the call that started them, and not those of others', () => {
    const main = session({ sessionId: 's1' })
      .toolUse('t1', 'Task', { prompt: 'do it', description: 'the deed', subagent_type: 'general' })
      .toolResult('t1', 'done', { toolUseResult: { agentId: 'aaa' } })
    const path = write('one/s1.jsonl', main.text)
    write('one/agent-aaa.jsonl', agentText('aaa', 's1'))
    write('one/agent-zzz.jsonl', agentText('zzz', 'another session'))
    write('one/s1/subagents/agent-bbb.jsonl', agentText('bbb', 's1'))
    write('one/s1/subagents/agent-bbb.meta.json', '{"agentType":"explorer","description":"looks"}')
    write('one/s1/subagents/agent-acompact-123456.jsonl', agentText('acompact-123456', 's1'))
    write('one/s1/tool-results/toolu_9.txt', 'large')
    const { agents, toolResults } = findSubagents(path)
    expect(
      agents.map(({ id, place, kind, agentType, toolUseId }) => ({ id, place, kind, agentType, toolUseId })),
    ).toEqual([
      { id: 'aaa', place: 'beside', kind: 'agent', agentType: undefined, toolUseId: 't1' },
      { id: 'acompact-123456', place: 'folder', kind: 'compaction', agentType: undefined, toolUseId: undefined },
      { id: 'bbb', place: 'folder', kind: 'agent', agentType: 'explorer', toolUseId: undefined },
    ])
    expect([...toolResults]).toEqual([['toolu_9', join(folder, 'one/s1/tool-results/toolu_9.txt')]])
  })

  test('inside the file are told apart by their roots and linked by their prompt', () => {
    const { records, truth } = generateWithTruth({ seed: 2, style: '1.0', turns: 6, subagents: 'inline' })
    const path = write('inside/s.jsonl', records.map(serialize).join(''))
    const { agents } = findSubagents(path)
    expect(agents.map(({ place, entries, toolUseId }) => ({ place, entries, toolUseId }))).toEqual(
      truth.sidechains.map(({ uuids, toolUseId }) => ({ place: 'inside', entries: uuids.length, toolUseId })),
    )
    expect(agents.length).toBeGreaterThan(0)
  })
})

describe('statistics', () => {
  test('over a folder are the sum of its sessions, with sub-agents and compaction runs told apart', () => {
    const truths = [1, 2, 3].map((seed) => {
      const { records, truth } = generateWithTruth({ seed, turns: 4, boundaries: seed - 1 })
      write(`many/s${seed}.jsonl`, records.map(serialize).join(''))
      return truth
    })
    const run = session()
      .user('summarize')
      .assistant('so far', { model: 'claude-opus-5', tokens: { input: 100, output: 50 } })
    write('many/s1/subagents/agent-acompact-1.jsonl', run.text)
    write('many/agent-a.jsonl', session().user('sub').text)
    const statistics = collectStatistics([join(folder, 'many')])
    expect(statistics).toMatchObject({
      files: 5,
      sessions: 3,
      subagentFiles: 1,
      compactionsRecorded: 1,
      withCompactions: 2,
      compactions: 3,
      mostInOneSession: 2,
      unreadable: [],
    })
    const answers = statistics.models.reduce((sum, model) => sum + model.answers, 0)
    expect(answers).toBe(truths.reduce((sum, truth) => sum + truth.answers.length, 0))
    expect(statistics.compactionModels.map(({ model, tokens }) => [model, tokens.input, tokens.output])).toEqual([
      ['claude-opus-5', 100, 50],
    ])
    expect(statistics.summaryRounds.map(({ round, summaries }) => [round, summaries])).toEqual([
      [1, 2],
      [2, 1],
    ])
  })

  test('tell how far they are, in bytes, up to all of them', () => {
    const plan = findTranscripts([join(folder, 'many')])
    const seen: number[] = []
    collectStatistics([join(folder, 'many')], { onProgress: ({ bytes }) => seen.push(bytes) })
    expect(seen.at(-1)).toBe(plan.bytes)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  })
})

describe('the index', () => {
  const cache = join(folder, 'cache')
  const text = session().user('one').assistant('two').text

  test('is found again, and made anew when the session was replaced by one of the same size', () => {
    const path = write('indexed.jsonl', text)
    expect(openIndex(path, { folder: cache }).source).toBe('scan')
    expect(openIndex(path, { folder: cache }).source).toBe('cache')
    writeFileSync(path, text.replaceAll('"u1"', '"x1"'))
    const index = openIndex(path, { folder: cache })
    expect([index.source, index.find('u1'), index.find('x1')?.row]).toEqual(['scan', undefined, 0])
  })

  test('is made anew when only the start of a long session was replaced', () => {
    const long = session().user('one').assistant('word '.repeat(5_000)).user('end').text
    const path = write('start.jsonl', long)
    openIndex(path, { folder: cache })
    writeFileSync(path, long.replaceAll('"u1"', '"x1"'))
    const index = openIndex(path, { folder: cache })
    expect([index.source, index.find('u1'), index.find('x1')?.row]).toEqual(['scan', undefined, 0])
  })

  test('of another agent’s session that grew is that of the whole file', () => {
    const lines = generateCodexRollout({ seed: 3, compactions: 2 }).records.map(serialize)
    const path = write('codex.jsonl', lines.slice(0, lines.length / 2).join(''))
    openIndex(path, { folder: cache })
    writeFileSync(path, lines.join(''))
    const rowsOf = (index: ReturnType<typeof openIndex>) => Array.from({ length: index.rows }, (_, at) => index.row(at))
    expect(rowsOf(openIndex(path, { folder: cache }))).toEqual(rowsOf(openIndex(path, { folder: false })))
  })

  test('that is damaged on disk is made anew', () => {
    const path = write('damaged.jsonl', text)
    const own = join(folder, 'own-cache')
    openIndex(path, { folder: own })
    const [name = ''] = readdirSync(own)
    for (const damage of ['', 'garbage', '{"version":1}\n', '{"version":1,"rows":9,"words":4}\nxx']) {
      writeFileSync(join(own, name), damage)
      expect(openIndex(path, { folder: own })).toMatchObject({ rows: 2, source: 'scan' })
    }
  })

  test('is not needed to be kept: where nothing can be written it is made each time', () => {
    const path = write('unkept.jsonl', text)
    const notAFolder = write('a-file', '')
    expect(openIndex(path, { folder: notAFolder })).toMatchObject({ rows: 2, source: 'scan' })
  })

  test('counts the lines of a file that has blank ones', () => {
    const path = write('blank.jsonl', `\n${text.replace('\n', '\n\n')}`)
    expect([...openIndex(path, { folder: false }).boundaries]).toEqual([])
    expect(openIndex(path, { folder: false }).row(1)?.line).toBe(4)
    expect(scanFile(path).table.lines[1]).toBe(4)
  })
})
