import type { JsonObject } from 'everlong/internal'
import { generateWithTruth, session, textBlock, thinkingBlock, toolUseBlock } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../../testing/harness.ts'
import type { TreeReport } from './tree.ts'

const folder = sessionFolder()
afterAll(folder.remove)

async function treeOf(records: readonly JsonObject[], ...words: readonly string[]): Promise<readonly string[]> {
  const { lines } = await report<TreeReport>('tree', folder.write('tree.jsonl', records), ...words)
  return lines.map(({ depth, kind, text }) => `${'| '.repeat(depth)}${kind}: ${text}`)
}

test('results of parallel calls hang beside the trunk, each at its own call', async () => {
  const { records } = session({ style: '2.1-late' })
    .user('look at both')
    .assistant([
      thinkingBlock('hm'),
      textBlock('Both.'),
      toolUseBlock('t1', 'Read', { file_path: 'a.ts' }),
      toolUseBlock('t2', 'Bash', { command: 'ls' }),
    ])
    .toolResult('t1', 'text of a')
    .toolResult('t2', 'a.ts', { isError: true })
    .assistant('Done.')
  expect(await treeOf(records)).toEqual([
    'human: look at both',
    'thinking: hm',
    'assistant: Both.',
    'tool-request: Read a.ts',
    '| tool-result: text of a',
    'tool-request: Bash ls',
    'tool-result: a.ts',
    'assistant: Done.',
  ])
  // The size is on the first line of each answer, also where a result is between its lines.
  const { lines } = await report<TreeReport>('tree', folder.write('tree.jsonl', records))
  expect(lines.flatMap(({ tokens, text }) => (tokens === null ? [] : [text]))).toEqual(['hm', 'Done.'])
})

test('what was rewound hangs beside the trunk, before what took its place', async () => {
  const { records } = session()
    .user('begin')
    .assistant('ready')
    .user('first try')
    .assistant('no good')
    .from('a1')
    .user('second try')
    .assistant('good')
  expect(await treeOf(records)).toEqual([
    'human: begin',
    'assistant: ready',
    '| human: first try',
    '| assistant: no good',
    'human: second try',
    'assistant: good',
  ])
})

test('a sub-agent is folded to one line where it was called', async () => {
  const { records } = session({ style: '1.0' })
    .user('find it')
    .assistant([toolUseBlock('t1', 'Task', { description: 'a search' })])
    .sidechain('agent1', (agent) => agent.user('search for it').assistant('here').user('thanks').assistant('bye'))
    .toolResult('t1', 'here')
    .assistant('Found.')
  expect(await treeOf(records)).toEqual([
    'human: find it',
    'tool-request: Task a search',
    '| sub-agent: search for it',
    'tool-result: here',
    'assistant: Found.',
  ])
  const { lines } = await report<TreeReport>('tree', folder.write('side.jsonl', records))
  expect(lines.map(({ entries }) => entries)).toEqual([null, null, 4, null, null])
})

test('a compaction opens an epoch, and what it kept stands after its summary', async () => {
  const { records } = session()
    .user('begin')
    .assistant('ready')
    .user('go on')
    .assistant('going')
    .boundary({ trigger: 'manual', kept: ['u2', 'a2'] })
    .summary('what was')
    .user('and now')
  expect(await treeOf(records)).toEqual([
    'human: begin',
    'assistant: ready',
    'epoch: ',
    'summary: 8 characters: what was',
    'human: go on',
    'assistant: going',
    'human: and now',
  ])
})

test('every message of the main conversation has its line, once', async () => {
  const { records, truth } = generateWithTruth({
    seed: 41,
    turns: 12,
    boundaries: 2,
    kept: 'before',
    subagents: 'inline',
  })
  const { lines, total } = await report<TreeReport>('tree', folder.write('all.jsonl', records), '--limit', '0')
  const spoken = records.filter(
    ({ type, isSidechain }) => (type === 'user' || type === 'assistant') && isSidechain !== true,
  )
  const uuids = lines.map(({ uuid }) => uuid)
  expect(total).toBe(lines.length)
  expect(new Set(uuids).size).toBe(uuids.length)
  expect(spoken.map(({ uuid }) => uuid).filter((uuid) => !uuids.includes(String(uuid)))).toEqual([])
  expect(lines.filter(({ kind }) => kind === 'epoch').length).toBe(truth.boundaries)
  expect(lines.filter(({ kind }) => kind === 'sub-agent').length).toBe(truth.sidechains.length)
})

test('only the last lines are shown unless more are asked for, and it is said how', async () => {
  const told = session()
  for (let turn = 0; turn < 150; turn++) told.user(`question ${turn}`).assistant(`answer ${turn}`)
  const file = folder.write('long.jsonl', told.records)
  const some = await everlong(['tree', file])
  expect(some.stdout).toContain('… 100 earlier lines not shown: --limit 0 shows all 300')
  expect(some.stdout.split('\n').filter((line) => /question|answer/.test(line)).length).toBe(200)
  const { lines, total } = await report<TreeReport>('tree', file, '--limit', '3')
  expect([total, lines.map(({ text }) => text)]).toEqual([300, ['answer 148', 'question 149', 'answer 149']])
})

test('the file of a sub-agent is a conversation of its own', async () => {
  const { records } = session().sidechain('agent1', (agent) => agent.user('search').assistant('found'))
  expect(await treeOf(records)).toEqual(['human: search', 'assistant: found'])
})

test('--ancestry shows the epochs that records of old clients opened', async () => {
  const legacy = (message: string) => ({ type: 'compact_system', uuid: message, message, metadata: {} })
  const { records } = session()
    .user('begin')
    .assistant('ready')
    .raw(legacy('conversation_compacting'))
    .raw(legacy('conversation_compacted'))
    .user('and now', { parent: null, fields: { logicalParentUuid: 'a1' } })
  const { lines } = await report<TreeReport>('tree', folder.write('old.jsonl', records), '--ancestry', 'u2')
  expect(lines.map(({ kind, text, epoch }) => `${kind} ${epoch?.number ?? text}`)).toEqual([
    'human begin',
    'assistant ready',
    'epoch 1',
    'human and now',
  ])
})

test('--ancestry shows what led to an entry across compactions, and an unknown entry is an error', async () => {
  const legacy = { type: 'compact_system', message: 'conversation_compacted', metadata: { preservedMessages: 1 } }
  const { records } = session()
    .user('begin')
    .assistant('ready')
    .user('aside')
    .boundary({ logicalParent: 'a1' })
    .summary('what was')
    .assistant('on')
    .raw(legacy)
    .user('and now', { parent: null, fields: { logicalParentUuid: 'a2' } })
  expect(await treeOf(records, '--ancestry', 'u3')).toEqual([
    'human: begin',
    'assistant: ready',
    'epoch: ',
    'summary: 8 characters: what was',
    'assistant: on',
    'epoch: ',
    'human: and now',
  ])
  const file = folder.write('ancestry.jsonl', records)
  const { lines } = await report<TreeReport>('tree', file, '--ancestry', 'u3')
  expect(lines.filter(({ isPostCompact }) => isPostCompact).map(({ uuid }) => uuid)).toEqual(['b1', 'u3'])
  const unknown = await everlong(['tree', file, '--ancestry', 'nobody'])
  expect(unknown).toMatchObject({ exitCode: 1, stdout: '' })
  expect(unknown.stderr).toContain('There is no entry nobody in')
})

test('a record with several results is an error if any of them is one', async () => {
  const built = session()
    .user('look')
    .assistant([toolUseBlock('t1', 'Read', { file_path: 'a.ts' }), toolUseBlock('t2', 'Bash', { command: 'ls' })])
  const result = (id: string, isError: boolean) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: 'x',
    ...(isError ? { is_error: true } : {}),
  })
  const message = { role: 'user', content: [result('t1', false), result('t2', true)] }
  const { records } = built.raw({ type: 'user', uuid: 'both', parentUuid: built.last, message })
  const { lines } = await report<TreeReport>('tree', folder.write('both.jsonl', records))
  expect(lines.filter(({ kind }) => kind === 'tool-result').map(({ isError }) => isError)).toEqual([true])
})
