import { describe, expect, test } from 'vitest'
import { session, textBlock, thinkingBlock } from '../../../testing/index.ts'
import type { JsonObject } from '../../message/json.ts'
import { type Head, readHead } from '../format/entry.ts'
import { liveWindow } from './live.ts'

const headsOf = (records: readonly JsonObject[]): readonly Head[] =>
  records.map((record, at) => readHead({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))

const windowOf = (records: readonly JsonObject[]) => {
  const heads = headsOf(records)
  const live = liveWindow(heads)
  return { ...live, uuids: live.order.map((row) => heads[row]?.uuid) }
}

describe('the live window', () => {
  test('of an empty file is empty', () => {
    expect(liveWindow([])).toEqual({ order: [], stop: 'empty', missing: [] })
  })

  test('is the whole conversation when nothing was compacted', () => {
    const { records } = session().user('hello').assistant('hi').user('more').assistant('yes')
    expect(windowOf(records)).toMatchObject({ uuids: ['u1', 'a1', 'u2', 'a2'], stop: 'root' })
  })

  test('holds the results of parallel calls that hang on side branches, beside their own answer', () => {
    const { records } = session()
      .user('look')
      .assistant([thinkingBlock('two files')], { messageId: 'm1' })
      .toolUse('t1', 'Read', {}, { messageId: 'm1', uuid: 'call1' })
      .toolUse('t2', 'Read', {}, { messageId: 'm1', uuid: 'call2' })
      .toolResult('t1', 'one', { parent: 'call1', uuid: 'result1' })
      .toolResult('t2', 'two', { parent: 'call2', uuid: 'result2' })
      .assistant([textBlock('done')], { messageId: 'm2', parent: 'result2', uuid: 'end' })
    expect(windowOf(records)).toMatchObject({
      uuids: ['u1', 'a1', 'call1', 'call2', 'result1', 'result2', 'end'],
    })
  })

  test('begins at the last boundary and leaves out what was compacted', () => {
    const { records } = session()
      .user('old')
      .assistant('old')
      .boundary({})
      .summary('so far')
      .user('new')
      .assistant('ok')
    expect(windowOf(records)).toMatchObject({ uuids: ['b1', 's1', 'u2', 'a2'], stop: 'boundary' })
  })

  test('is as it was before a compaction whose summary a crash cost: the boundary alone changes nothing', () => {
    const { records } = session().user('old').assistant('old').boundary({})
    expect(windowOf(records)).toMatchObject({ uuids: ['u1', 'a1'], stop: 'root' })
  })

  test('follows a rewind to before the boundary: the branch that holds the newest message is live', () => {
    const { records } = session()
      .user('first')
      .assistant('one')
      .boundary({})
      .summary('so far')
      .user('new', { parent: 'a1' })
    expect(windowOf(records)).toMatchObject({ uuids: ['u1', 'a1', 'u2'], stop: 'root' })
  })

  test('a missing parent is replaced by the nearest earlier entry, and named as missing', () => {
    const { records } = session().user('first').assistant('one').user('second', { parent: 'never-written' })
    expect(windowOf(records)).toMatchObject({ uuids: ['u1', 'a1', 'u2'], missing: ['never-written'] })
  })

  test('a missing parent is not replaced by a copy of an old line, which would lead back past the boundary', () => {
    const { records } = session()
      .user('old')
      .boundary()
      .summary('what was')
      .user('old', { uuid: 'u1', parent: null })
      .user('new', { parent: 'lost' })
    expect(windowOf(records).uuids).toEqual(['b1', 's1', 'u2'])
  })

  test('a ring of parents is cut instead of followed forever', () => {
    const { records } = session().user('first', { parent: 'a1' }).assistant('one').user('second')
    expect(windowOf(records)).toMatchObject({ uuids: ['u1', 'a1', 'u2'], stop: 'orphan' })
  })

  test('the same uuid twice: the first counts', () => {
    const { records } = session()
      .user('first')
      .assistant('one', { uuid: 'u1', parent: 'u1' })
      .user('second', { parent: 'u1' })
    const heads = headsOf(records)
    expect(liveWindow(heads).order.map((row) => heads[row]?.line)).toEqual([1, 3])
  })

  // claude-code#66947, #92089: a resumed session writes old lines again after the newest.
  test('a line that is written again at the end does not take the window back to it', () => {
    const built = session().user('first').assistant('one').user('second').assistant('two')
    const { records } = built.raw(built.records[1] ?? {})
    expect(windowOf(records)).toMatchObject({ uuids: ['u1', 'a1', 'u2', 'a2'], stop: 'root' })
  })

  test('a file of a sub-agent has only sidechain lines, and they are its conversation', () => {
    const { records } = session()
      .user('task', { fields: { isSidechain: true } })
      .assistant('done', { fields: { isSidechain: true } })
    expect(windowOf(records)).toMatchObject({ uuids: ['u1', 'a1'] })
  })

  test('sidechains inside the file do not belong to the main conversation', () => {
    const { records } = session()
      .user('go')
      .toolUse('t1', 'Task', {})
      .sidechain('x', (agent) => agent.user('sub').assistant('sub done'))
      .toolResult('t1', 'ok')
      .assistant('end')
    expect(windowOf(records).uuids).toEqual(['u1', 'a1', 'r1', 'a3'])
  })
})

describe('kept messages', () => {
  const before = () => session().user('old').assistant('old').user('kept question').assistant('kept answer')
  const expected = ['b1', 's1', 'u2', 'a2', 'u3']

  test('that lie before the boundary come after the summary (layout B)', () => {
    const { records } = before()
      .boundary({ kept: ['u2', 'a2'] })
      .summary('so far')
      .user('new')
    expect(windowOf(records).uuids).toEqual(expected)
  })

  test('do not bring the whole history back when the next line hangs on the last of them (layout C)', () => {
    const { records } = before()
      .boundary({ kept: ['u2', 'a2'] })
      .summary('so far')
      .user('new', { parent: 'a2' })
    expect(windowOf(records).uuids).toEqual(expected)
  })

  test('that were written after the boundary make no ring with its logical parent (layout D)', () => {
    const { records } = session()
      .user('old')
      .assistant('old')
      .boundary({ kept: ['u2', 'a2'], logicalParent: 'a2' })
      .summary('so far')
      .user('kept question')
      .assistant('kept answer')
      .user('new')
    expect(windowOf(records).uuids).toEqual(expected)
  })

  test('named only by the ends of their stretch are found along the chain between them', () => {
    const preservedSegment = { headUuid: 'u2', anchorUuid: 's1', tailUuid: 'a2' }
    const { records } = before().boundary({ metadata: { preservedSegment } }).summary('so far').user('new')
    expect(windowOf(records).uuids).toEqual(expected)
  })

  test('make no ring when the summary itself hangs on them', () => {
    const { records } = before()
      .boundary({ kept: ['u2', 'a2'] })
      .summary('so far', { parent: 'a2' })
      .user('new')
    expect(windowOf(records).uuids).toEqual(['s1', 'u2', 'a2', 'u3'])
  })

  test('that never reached the disk are named as missing and cost nothing else', () => {
    const { records } = session()
      .boundary({ kept: ['gone1', 'gone2'] })
      .summary('so far')
      .user('new')
    expect(windowOf(records)).toMatchObject({ uuids: ['b1', 's1', 'u1'], missing: ['gone1', 'gone2'] })
  })
})

describe('legacy compaction records', () => {
  const compacted = (preservedMessages: number) => ({
    type: 'compact_system',
    message: 'conversation_compacted',
    metadata: { preservedMessages, totalMessages: 4, trigger: 'auto', tokenCount: 90_000, reducedTokenCount: 9_000 },
  })

  test('end the window, though the parents lead past them, and keep so many messages before them', () => {
    const built = session().user('old').assistant('old').user('kept').assistant('kept').raw(compacted(2)).user('new')
    const live = windowOf(built.records)
    expect(live.uuids).toEqual(['boundary-at-byte-4', 'u2', 'a2', 'u3'])
    expect(live.stop).toBe('boundary')
  })

  test('are read with their sizes and trigger', () => {
    const [head] = headsOf([compacted(2)])
    expect(head?.boundary).toEqual({
      trigger: 'auto',
      preTokens: 90_000,
      postTokens: 9_000,
      durationMs: undefined,
      kept: { type: 'counted', count: 2 },
      totalMessages: 4,
    })
  })

  const before = () => session().user('old').assistant('old').user('kept').assistant('kept')
  const announced = (message: string) => ({ type: 'compact_system', uuid: message, message })

  test('a root that continues an earlier message comes after them, between announcements that are no entries', () => {
    const { records } = before()
      .raw(announced('conversation_compacting'))
      .raw(compacted(2))
      .user('new', { parent: null, fields: { logicalParentUuid: 'a2' } })
      .raw(announced('conversation_restored'))
      .assistant('ok', { parent: 'u3' })
    expect(windowOf(records)).toMatchObject({
      uuids: ['boundary-at-byte-5', 'u2', 'a2', 'u3', 'a3'],
      stop: 'boundary',
    })
  })

  test('the first message after them continues them, also as a root without a word about it; a later root does not', () => {
    const built = before().raw(compacted(2)).user('new', { parent: null }).assistant('ok')
    expect(windowOf(built.records).uuids).toEqual(['boundary-at-byte-4', 'u2', 'a2', 'u3', 'a3'])
    expect(windowOf(built.user('cleared', { parent: null }).records)).toMatchObject({ uuids: ['u4'], stop: 'root' })
  })

  test('a second one ends the window of the first', () => {
    const continuing = (uuid: string) => ({ parent: null, fields: { logicalParentUuid: uuid } })
    const { records } = before()
      .raw(compacted(1))
      .user('more', continuing('a2'))
      .assistant('more')
      .raw(compacted(1))
      .user('new', continuing('a3'))
    expect(windowOf(records).uuids).toEqual(['boundary-at-byte-7', 'a3', 'u4'])
  })

  test('a second one that counts more messages than there are since the first brings back none from before it', () => {
    const { records } = before()
      .raw(compacted(1))
      .user('more', { parent: null, fields: { logicalParentUuid: 'a2' } })
      .assistant('more')
      .raw(compacted(4))
      .user('new', { parent: null, fields: { logicalParentUuid: 'a3' } })
    expect(windowOf(records).uuids).toEqual(['boundary-at-byte-7', 'u3', 'a3', 'u4'])
  })

  test('a root that continues an earlier message without any record of a compaction starts the window', () => {
    const { records } = before().user('new', { parent: null, fields: { logicalParentUuid: 'a2' } })
    expect(windowOf(records)).toMatchObject({ uuids: ['u3'], stop: 'continued' })
  })

  test('of an SDK stream are read in their own spelling', () => {
    const record = {
      type: 'system',
      subtype: 'compact_boundary',
      uuid: 'b',
      compact_metadata: { trigger: 'manual', pre_tokens: 7 },
    }
    expect(headsOf([record])[0]?.boundary).toMatchObject({ trigger: 'manual', preTokens: 7 })
  })
})
