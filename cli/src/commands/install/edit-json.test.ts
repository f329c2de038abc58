import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { describe, expect, test } from 'vitest'
import { addToJson, type JsonEdit, type JsonMark, removeFromJson } from './edit-json.ts'

const server: JsonEdit = { at: ['mcp'], key: 'everlong', value: { type: 'local', command: ['node', 'x.js'] } }
const plugin: JsonEdit = { at: ['plugin'], value: 'everlong' }

function added(text: string, edit: JsonEdit): { readonly text: string; readonly mark: JsonMark } {
  const result = addToJson(text, edit)
  if (result.type !== 'added') throw new Error(`not added: ${JSON.stringify(result)}`)
  return result
}

describe('a value is added in the style of the file', () => {
  test.each<[string, string, JsonEdit, string]>([
    [
      'next to other members, behind a comment on the last line',
      '{\n    "theme": "dark" // mine\n}\n',
      { at: [], key: 'a', value: { b: 1 } },
      '{\n    "theme": "dark", // mine\n    "a": {\n        "b": 1\n    }\n}\n',
    ],
    ['into an empty list', '{\n  "plugin": []\n}', plugin, '{\n  "plugin": [\n    "everlong"\n  ]\n}'],
    ['into a list on one line', '{ "plugin": ["a"] }', plugin, '{ "plugin": ["a", "everlong"] }'],
    ['into a file on one line', '{"a":1,"b":2}', { at: [], key: 'c', value: 3 }, '{"a":1,"b":2,"c": 3}'],
    ['where commas come last', '{\n\t"a": 1,\n}', { at: [], key: 'c', value: 3 }, '{\n\t"a": 1,\n\t"c": 3,\n}'],
    [
      'with the line ends of the file',
      '{\r\n  "a": 1\r\n}',
      plugin,
      '{\r\n  "a": 1,\r\n  "plugin": [\r\n    "everlong"\r\n  ]\r\n}',
    ],
    ['behind a byte order mark', '\ufeff{}', { at: [], key: 'c', value: 3 }, '\ufeff{\n  "c": 3\n}'],
  ])('%s', (_, before, edit, after) => {
    expect(added(before, edit).text).toBe(after)
  })
})

test.each<[string, string, JsonEdit, string]>([
  ['text that is not JSON', '{\n  "a": ,\n}', server, 'it is not valid JSON (line 2)'],
  ['a list at the top', '[]', server, 'it does not hold a JSON object'],
  ['another value in the same place', '{"mcp":{"everlong":1}}', server, 'mcp.everlong has another value already'],
  ['a text where an object is needed', '{"mcp":"none"}', server, 'mcp is not an object or a list'],
  ['an object where a list is needed', '{"plugin":{}}', plugin, 'plugin is not a list'],
  ['a key that is there twice', '{"mcp":{},"mcp":{}}', server, 'mcp is defined twice'],
])('%s is refused', (_, text, edit, why) => {
  expect(addToJson(text, edit)).toEqual({ type: 'problem', why })
})

test('a value that is there already is left to its owner', () => {
  expect(addToJson('{"plugin":["everlong"]}', plugin)).toEqual({ type: 'present' })
})

test('a value that was changed since is not removed, and one that is gone is no problem', () => {
  const { mark } = added('{}', server)
  expect(removeFromJson('{"mcp":{"everlong":{"type":"remote"}}}', server, mark)).toEqual({
    type: 'problem',
    why: 'mcp.everlong was changed',
  })
  expect(removeFromJson('{"mcp":{}}', server, mark)).toEqual({ type: 'gone', text: '{"mcp":{}}' })
})

test('a container that came with the value stays if something else was put into it', () => {
  const { text, mark } = added('{}', server)
  const later = added(text, { at: ['mcp'], key: 'other', value: 1 })
  expect(removeFromJson(later.text, server, mark)).toEqual({
    type: 'removed',
    text: '{\n  "mcp": {\n    "other": 1\n  }\n}',
  })
})

type Style = { readonly gap: string; readonly eol: string; readonly comma: string; readonly note: string }

const anyStyle: fc.Arbitrary<Style> = fc.record({
  gap: fc.constantFrom('', '  ', '\t', '    '),
  eol: fc.constantFrom('\n', '\r\n'),
  comma: fc.constantFrom('', ','),
  note: fc.constantFrom('', ' // a, "b": {', ' /* } */'),
})
const anyKey = fc.oneof(fc.constantFrom('mcp', 'plugin', 'everlong', 'a"b', '$schema'), fc.string({ maxLength: 8 }))
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, -1.5e3, 'x', '// no comment', '{,}'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 3 }),
  ),
}))
const anySettings = fc.tuple(fc.dictionary(anyKey, anyValue, { maxKeys: 4 }), anyStyle)

/** The value as somebody might have typed it. */
function typed(value: unknown, style: Style, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const members = Object.entries(value).map(
    ([key, item]) => `${isList ? '' : `${JSON.stringify(key)}: `}${typed(item, style, depth + 1)}`,
  )
  const [open, close] = isList ? '[]' : '{}'
  if (members.length === 0) return `${open}${close}`
  if (style.gap === '') return `${open}${members.join(', ')}${close}`
  const lines = members.map((member, at) => {
    const isLast = at === members.length - 1
    return `${style.gap.repeat(depth + 1)}${member}${isLast ? style.comma : ','}${isLast ? style.note : ''}${style.eol}`
  })
  return `${open}${style.eol}${lines.join('')}${style.gap.repeat(depth)}${close}`
}

const anyEdit = fc.oneof(
  fc.record({ at: fc.array(anyKey, { maxLength: 2 }), key: anyKey, value: anyValue }),
  fc.record({ at: fc.array(anyKey, { minLength: 1, maxLength: 2 }), value: anyValue }),
) as fc.Arbitrary<JsonEdit>

describe('whatever the file, the edit and its style', () => {
  test('adding and removing gives the same bytes, and adding changes nothing else', () => {
    let count = 0
    const property = fc.property(anySettings, anyEdit, ([settings, style], edit) => {
      const before = typed(settings, style)
      const result = addToJson(before, edit)
      if (result.type !== 'added') return
      count++
      const undone = removeFromJson(result.text, edit, result.mark)
      expect(undone).toEqual({ type: 'removed', text: before })
      const whole = edit.key === undefined ? [...edit.at] : [...edit.at, edit.key]
      const found = whole.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], parse(result.text))
      expect(edit.key === undefined ? (found as unknown[]).at(-1) : found).toEqual(edit.value)
    })
    fc.assert(property, { numRuns: 1_000 })
    expect(count).toBeGreaterThan(500)
  })

  test('edits of a person elsewhere survive byte for byte', () => {
    const people: readonly ((text: string) => string)[] = [
      (text) => `// written by hand\n${text}`,
      (text) => `${text}\n\n// the end`,
      (text) => text.replace('{', '{"by hand": [1, 2],'),
      (text) => text.replace('"kept": "old"', '"kept":\n"new"  '),
    ]
    const property = fc.property(anySettings, anyEdit, fc.subarray([...people]), ([settings, style], edit, hands) => {
      const before = typed({ kept: 'old', ...settings, also: 1 }, style)
      const result = addToJson(before, edit)
      const isElsewhere = edit.at[0] !== 'kept' && edit.key !== 'kept' && edit.key !== 'by hand'
      if (result.type !== 'added' || !isElsewhere) return
      const byHand = (text: string) => hands.reduce((now, hand) => hand(now), text)
      const undone = removeFromJson(byHand(result.text), edit, result.mark)
      expect(undone).toEqual({ type: 'removed', text: byHand(before) })
    })
    fc.assert(property, { numRuns: 1_000 })
  })

  test('what a person adds behind ours stays', () => {
    const later: JsonEdit = { at: [], key: 'added later', value: { b: [1] } }
    const property = fc.property(anySettings, anyEdit, ([settings, style], edit) => {
      const before = typed(settings, style)
      const result = addToJson(before, edit)
      if (result.type !== 'added') return
      const undone = removeFromJson(added(result.text, later).text, edit, result.mark)
      if (undone.type !== 'removed') throw new Error(JSON.stringify(undone))
      expect(isDeepStrictEqual(parse(undone.text), parse(added(before, later).text))).toBe(true)
    })
    fc.assert(property, { numRuns: 500 })
  })
})
