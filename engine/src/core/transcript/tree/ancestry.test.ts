import { describe, expect, test } from 'vitest'
import { corrupt, generateWithTruth, keptLayouts, session } from '../../../testing/index.ts'
import type { JsonObject } from '../../message/json.ts'
import { editRecord } from '../format/edits.ts'
import { originOf } from '../format/messages.ts'
import { ancestryOf, createScanner } from './scan.ts'

function scan(records: readonly JsonObject[]) {
  const scanner = createScanner()
  for (const [at, record] of records.entries())
    scanner.add({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } })
  return scanner.finish()
}

const ancestry = (records: readonly JsonObject[], uuid: string) =>
  ancestryOf(scan(records), uuid).map((row) => String(records[row]?.uuid))

const continuing = (uuid: string) => ({ parent: null, fields: { logicalParentUuid: uuid } })

describe('the ancestry of an entry', () => {
  test('goes back over every boundary to the first message, by the logical parent', () => {
    const { records } = session()
      .user('1')
      .assistant('2')
      .boundary({})
      .summary('s')
      .user('3')
      .boundary({})
      .summary('t')
      .user('4')
    expect(ancestry(records, 'u3')).toEqual(['u1', 'a1', 'b1', 's1', 'u2', 'b2', 's2', 'u3'])
    expect(ancestry(records, 'a1')).toEqual(['u1', 'a1'])
    expect(ancestry(records, 'nobody')).toEqual([])
  })

  test('takes the logical parent of a message before its parent', () => {
    const built = session().user('1').assistant('2').user('aside', { parent: null })
    const { records } = built.user('3', { fields: { logicalParentUuid: 'a1' } }).assistant('4')
    expect(ancestry(records, 'a2')).toEqual(['u1', 'a1', 'u3', 'a2'])
  })

  test('takes a logical parent wherever it is, also if it is the first entry', () => {
    const built = session().user('1').assistant('2')
    const { records } = built.user('3', { fields: { logicalParentUuid: 'u1' } }).assistant('4')
    expect(ancestry(records, 'a2')).toEqual(['u1', 'u2', 'a2'])
  })

  test('a root continues at the entry that it names, with and without a legacy record', () => {
    const compacted = { type: 'compact_system', uuid: 'c', message: 'conversation_compacted', metadata: {} }
    const before = () => session().user('1').assistant('2')
    const after = (built: ReturnType<typeof session>) => built.user('3', continuing('a1')).assistant('4').records
    expect(ancestry(after(before()), 'a2')).toEqual(['u1', 'a1', 'u2', 'a2'])
    expect(ancestry(after(before().raw(compacted)), 'a2')).toEqual(['u1', 'a1', 'u2', 'a2'])
    expect(ancestry(before().raw(compacted).user('3', { parent: 'c' }).records, 'u2')).toEqual(['u1', 'a1', 'c', 'u2'])
  })

  test.each([
    ['missing', 'gone'],
    ['below', 'u2'],
  ])('goes to the entry before a boundary whose logical parent is %s', (_, logicalParent) => {
    const { records } = session().user('1').assistant('2').boundary({ logicalParent }).summary('s').user('3')
    expect(ancestry(records, 'u2')).toEqual(['u1', 'a1', 'b1', 's1', 'u2'])
  })

  test('has kept messages once, where they were written, also when two compactions kept the same ones', () => {
    const { records } = session()
      .user('1')
      .assistant('2')
      .user('kept')
      .boundary({ kept: ['u2'] })
      .summary('s')
      .user('3')
      .boundary({ kept: ['u2', 'u3'] })
      .summary('t')
      .user('4')
    expect(ancestry(records, 'u4')).toEqual(['u1', 'a1', 'u2', 'b1', 's1', 'u3', 'b2', 's2', 'u4'])
  })

  test('in the file of a sub-agent crosses its boundary too', () => {
    const { records } = session().user('1').assistant('2').boundary({ logicalParent: 'gone' }).summary('s').user('3')
    const side = records.map((record) => ({ ...record, isSidechain: true, agentId: 'x' }))
    expect(ancestry(side, 'u2')).toEqual(['u1', 'a1', 'b1', 's1', 'u2'])
  })

  test('leaves out what was rewound, and what a copy of an old line would lead back past', () => {
    const built = session().user('1').assistant('2').user('wrong').assistant('no')
    const place = { uuid: 'x1', parentUuid: 'a2', timestamp: '2026-11-02T00:00:00.000Z', sessionId: 's' }
    const rewound = built.raw(editRecord({ type: 'rewind', to: 'a1' }, place)).user('right', { parent: 'x1' })
    expect(ancestry(rewound.records, 'u3')).toEqual(['u1', 'a1', 'x1', 'u3'])
    const old = session().user('1').assistant('2').user('3')
    const copied = old
      .raw(old.records[0] ?? {})
      .boundary({ logicalParent: 'gone' })
      .summary('s')
    expect(ancestry(copied.records, 's1')).toEqual(['u1', 'a1', 'u2', 'b1', 's1'])
  })
})

describe('in generated sessions', () => {
  test.each(keptLayouts)('kept: %s: the newest message descends from all that a person typed', (kept) => {
    for (const seed of [1, 2, 3]) {
      const { records, truth } = generateWithTruth({ seed, turns: 8, boundaries: 3, kept, subagents: 'inline' })
      const main = records.filter(({ isSidechain }) => isSidechain !== true)
      const newest = main.findLast(({ type }) => type === 'user' || type === 'assistant')
      const rows = ancestryOf(scan(records), String(newest?.uuid))
      const typed = main.filter((record) => originOf(record) === 'human')
      expect(rows).toEqual(rows.toSorted((a, b) => a - b))
      expect(typed.filter((record) => !rows.includes(records.indexOf(record)))).toEqual([])
      // If the parent of a line is the last kept message, its ancestry skips the boundary.
      const passed = kept === 'before-parent-is-tail' ? 0 : truth.boundaries
      expect(rows.filter((row) => records[row]?.subtype === 'compact_boundary')).toHaveLength(passed)
    }
  })

  test('that are damaged it ends, has no entry twice, and its own last', () => {
    const kinds = ['duplicate-uuid', 'missing-parent', 'cycle', 'forward-logical-parent'] as const
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const whole = generateWithTruth({ seed, turns: 6, boundaries: 2, kept: 'before' }).records
      const found = scan(corrupt(whole, seed, kinds).records)
      for (const [uuid, row] of found.table.ids) {
        const rows = ancestryOf(found, uuid)
        expect(new Set(rows).size).toBe(rows.length)
        expect(rows.at(-1)).toBe(row)
      }
    }
  })
})
