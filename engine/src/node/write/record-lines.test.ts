import { describe, expect, test } from 'vitest'
import { toLines } from './writer.ts'

const rules = { knows: (uuid: string) => uuid === 'old' }
const problemOf = (records: readonly unknown[]) => {
  const result = toLines(records, rules)
  return result.type === 'refused' ? result.message : result.text
}

describe('a record that would not read back the same is refused, and its place is named', () => {
  const itself: { items: unknown[] } = { items: [] }
  itself.items.push(itself)
  let deep: unknown = 0
  for (let at = 0; at < 200_000; at++) deep = [deep]
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['an array', [1], 'it is not an object'],
    ['nothing', null, 'it is not an object'],
    ['a BigInt', { a: { b: [1, 2n] } }, 'a.b[1] is of type bigint'],
    ['a ring', itself, 'items[0] contains itself'],
    ['a date', { at: new Date(0) }, 'at is not a plain object'],
    ['a map', { at: new Map() }, 'at is not a plain object'],
    ['a function', { toJSON: () => 1 }, 'toJSON is of type function'],
    ['no number', { n: Number.NaN }, 'n is NaN'],
    ['a hole', { a: [undefined] }, 'a[0] is of type undefined'],
    ['great depth', { deep }, 'it is nested too deeply or too long'],
  ]
  test.each(cases)('%s', (_name, record, words) => {
    expect(problemOf([record])).toBe(`Record 0: ${words} and would not read back the same. Use plain JSON values.`)
  })
})

describe('lines', () => {
  test('hold no raw newline and no broken text, and leave out what is undefined', () => {
    expect(problemOf([{ a: 'x\n\r\u2028\ud800', b: undefined, c: [[], {}] }])).toBe(
      '{"a":"x\\n\\r\u2028\\ud800","c":[[],{}]}\n',
    )
  })

  test('may say the same thing twice, which is no ring', () => {
    const same = { x: 1 }
    expect(problemOf([{ a: same, b: [same, same] }])).toBe('{"a":{"x":1},"b":[{"x":1},{"x":1}]}\n')
  })

  test('follow one another when each refers to what is there before it', () => {
    const records = [
      { uuid: 'a', parentUuid: null },
      { uuid: 'b', parentUuid: 'a', logicalParentUuid: 'old' },
      { type: 'mode' },
    ]
    expect(toLines(records, rules)).toEqual({
      type: 'lines',
      text: '{"uuid":"a","parentUuid":null}\n{"uuid":"b","parentUuid":"a","logicalParentUuid":"old"}\n{"type":"mode"}\n',
      uuids: ['a', 'b'],
    })
  })
})

describe('a uuid', () => {
  const unknown = (field: string, uuid: string, index: number) =>
    `Record ${index}: ${field} ${uuid} is not a record of this session. Write that record first; if it was in the file when it was opened, \`knows\` must return true for it.`

  test('that is not there yet cannot be a parent, not even when it comes later or is the record itself', () => {
    expect(problemOf([{ uuid: 'a', parentUuid: 'b' }, { uuid: 'b' }])).toEqual(unknown('parentUuid', 'b', 0))
    expect(problemOf([{ uuid: 'a' }, { uuid: 'b', parentUuid: 'b' }])).toEqual(unknown('parentUuid', 'b', 1))
  })

  test('of another file cannot be a logical parent', () => {
    expect(problemOf([{ logicalParentUuid: 'far' }])).toEqual(unknown('logicalParentUuid', 'far', 0))
  })

  test('comes once, in the file and among the records given', () => {
    const taken = (uuid: string, index: number) =>
      `Record ${index}: the uuid ${uuid} is in the session already. Give each record a new one.`
    expect(problemOf([{ uuid: 'old' }])).toEqual(taken('old', 0))
    expect(problemOf([{ uuid: 'a' }, { uuid: 'a' }])).toEqual(taken('a', 1))
  })

  test('is text', () => {
    const message = (field: string) =>
      `Record 0: ${field} is not a string. Give a uuid, or null for a record without a parent.`
    expect([problemOf([{ uuid: null }]), problemOf([{ parentUuid: 7 }])]).toEqual([
      message('uuid'),
      message('parentUuid'),
    ])
  })
})
