import { expect, test } from 'vitest'
import { session, textBlock, thinkingBlock, toolUseBlock } from './index.ts'

const links = (built: { readonly records: readonly { readonly [key: string]: unknown }[] }) =>
  built.records.map((record) => [record.uuid, record.parentUuid, record.type])

test('lines get ids that can be foreseen and hang on the line before', () => {
  expect(links(session().user('hello').assistant('hi').user('again').system('turn_duration'))).toEqual([
    ['u1', null, 'user'],
    ['a1', 'u1', 'assistant'],
    ['u2', 'a1', 'user'],
    ['y1', 'u2', 'system'],
  ])
})

test('parallel results hang on their own calls from 2.1 on, and on one another before', () => {
  const build = (style: '2.0' | '2.1-late') =>
    session({ style })
      .user('look')
      .assistant([thinkingBlock('hm'), toolUseBlock('t1', 'Read'), toolUseBlock('t2', 'Read')])
      .toolResult('t1', 'one')
      .toolResult('t2', 'two')
      .assistant([textBlock('done')])
  const start = [
    ['u1', null, 'user'],
    ['a1', 'u1', 'assistant'],
    ['a2', 'a1', 'assistant'],
    ['a3', 'a2', 'assistant'],
  ]
  expect(links(build('2.1-late'))).toEqual([
    ...start,
    ['r1', 'a2', 'user'],
    ['r2', 'a3', 'user'],
    ['a4', 'r2', 'assistant'],
  ])
  expect(links(build('2.0'))).toEqual([...start, ['r1', 'a3', 'user'], ['r2', 'r1', 'user'], ['a4', 'r2', 'assistant']])
})

test('a boundary names the coming summary as the anchor of what it keeps', () => {
  const built = session()
    .user('hello')
    .assistant('hi')
    .boundary({ kept: ['a1'], preTokens: 9 })
    .summary('In short: hello.')
    .user('go on')
  expect(links(built).slice(2)).toEqual([
    ['b1', null, 'system'],
    ['s1', 'b1', 'user'],
    ['u2', 's1', 'user'],
  ])
  expect(built.records[2]).toMatchObject({
    logicalParentUuid: 'a1',
    compactMetadata: {
      trigger: 'auto',
      preTokens: 9,
      preservedSegment: { headUuid: 'a1', anchorUuid: 's1', tailUuid: 'a1' },
      preservedMessages: { anchorUuid: 's1', uuids: ['a1'], allUuids: ['a1'] },
    },
  })
})

test('a sub-agent starts from no parent and the main thread continues where it was', () => {
  const built = session()
    .user('ask')
    .toolUse('t1', 'Task', { prompt: 'dig' })
    .sidechain('a77', (agent) => agent.user('dig').assistant('dug'))
    .toolResult('t1', 'dug')
  expect(built.records.map((record) => [record.uuid, record.parentUuid, record.isSidechain, record.agentId])).toEqual([
    ['u1', null, false, undefined],
    ['a1', 'u1', false, undefined],
    ['u2', null, true, 'a77'],
    ['a2', 'u2', true, 'a77'],
    ['r1', 'a1', false, undefined],
  ])
})

test('a branch starts where it is told to', () => {
  expect(links(session().user('one').assistant('two').from('u1').assistant('other'))).toEqual([
    ['u1', null, 'user'],
    ['a1', 'u1', 'assistant'],
    ['a2', 'u1', 'assistant'],
  ])
})
