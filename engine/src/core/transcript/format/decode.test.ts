import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeLine } from './decode.ts'

const record = (uuid: string, more: object = {}) => ({ parentUuid: null, type: 'user', uuid, ...more })
const a = record('a', { message: { role: 'user', content: [{ type: 'text', text: 'a "quoted" {brace}' }] } })
const b = record('b', { toolUseResult: { lines: [1, 2, { x: 'y' }] } })
const text = (value: unknown) => JSON.stringify(value)

describe('decoding a line', () => {
  test('one whole object is one record', () => {
    expect(decodeLine(text(a))).toMatchObject({ records: [a], salvaged: 0, lost: [] })
  })

  test('each record of a line is found where it lies', () => {
    const line = `${text(a)} ${text(b)}`
    const { records, stretches } = decodeLine(line)
    expect(stretches.map(({ start, end }) => JSON.parse(line.slice(start, end)))).toEqual(records)
  })

  test('two objects on one line are two records', () => {
    expect(decodeLine(text(a) + text(b))).toMatchObject({ records: [a, b], salvaged: 1, lost: [] })
  })

  test('NUL runs, a byte-order mark and carriage returns cost nothing', () => {
    expect(decodeLine(`\ufeff${text(a)}\r`)).toMatchObject({ records: [a], salvaged: 0, lost: [] })
    expect(decodeLine(`\0\0\0\0${text(a)}\0\0`)).toMatchObject({ records: [a], salvaged: 1, lost: [] })
    expect(decodeLine('\0\0\0 \r')).toMatchObject({ records: [], salvaged: 0, lost: [] })
  })

  test('a torn record is lost as a whole: its parts do not become records', () => {
    const whole = text(a)
    for (let cut = 1; cut < whole.length; cut++) {
      expect(decodeLine(whole.slice(0, cut))).toMatchObject({
        records: [],
        salvaged: 0,
        lost: [{ start: 0, end: cut }],
      })
    }
  })

  test('a record that was cut anywhere does not cost the one that continues on its line', () => {
    const whole = text(a)
    for (let cut = 1; cut < whole.length; cut++) {
      const line = whole.slice(0, cut) + text(b)
      expect(decodeLine(line), line).toMatchObject({ records: [b], salvaged: 1, lost: [{ start: 0, end: cut }] })
    }
  })

  test('a record between two torn ones survives', () => {
    const line = text(a).slice(0, 40) + text(b) + text(a).slice(0, 60)
    expect(decodeLine(line).records).toEqual([b])
  })

  test('after a record that was cut and one that is whole, objects of any kind count again', () => {
    const note = { note: 'of another client' }
    expect(decodeLine(text(a).slice(0, 40) + text(b) + text(note)).records).toEqual([b, note])
  })

  test('after a cut, parts of the record that was cut are no records', () => {
    const cut = '{"type":"assistant","uuid":"1","message":{"content":[{"type":"text","text":"a"},{"type":"text","te'
    const next = '{"type":"user","uuid":"2","message":{"content":[{"type":"text","text":"b"}]}}'
    expect(decodeLine(`${cut}"x":{"type":"text","text":"inner"} ${next}`).records).toEqual([JSON.parse(next)])
  })

  test('what is no object is lost, not an error', () => {
    expect(decodeLine('42')).toMatchObject({ records: [], salvaged: 0, lost: [{ start: 0, end: 2 }] })
    expect(decodeLine('[{"a":1}]').records).toEqual([{ a: 1 }])
    expect(decodeLine('plain words')).toMatchObject({ records: [], salvaged: 0, lost: [{ start: 0, end: 11 }] })
  })

  test('a lone surrogate escape is read, as JSON.parse reads it', () => {
    expect(decodeLine('{"type":"x","text":"\\ud83d"}').records).toEqual([{ type: 'x', text: '\ud83d' }])
  })

  test('any text whatever is decoded without an error, and whole objects in a row are all found', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (any) => decodeLine(any) !== undefined))
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 5 }), (objects) => {
        const plain = objects.map((object) => JSON.parse(text(object)))
        expect(decodeLine(plain.map(text).join('')).records).toEqual(plain)
      }),
    )
  })

  test('a hostile line of braces is read in linear time', () => {
    const braces = '{"a":'.repeat(200_000)
    expect(decodeLine(braces).records).toEqual([])
    expect(decodeLine('{'.repeat(1_000_000)).records).toEqual([])
    expect(decodeLine('{"'.repeat(500_000)).records).toEqual([])
  })
})
