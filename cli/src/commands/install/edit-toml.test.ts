import fc from 'fast-check'
import { parse, stringify } from 'smol-toml'
import { expect, test } from 'vitest'
import { addToToml, removeFromToml } from './edit-toml.ts'

const server = '[mcp_servers.everlong]\ncommand = "node"\nargs = ["x.js"]'
const top = 'compact_prompt = "Keep the rules."'

function added(text: string, lines: string, where: 'start' | 'end' = 'end') {
  const result = addToToml(text, lines, where)
  if (result.type !== 'added') throw new Error(`not added: ${JSON.stringify(result)}`)
  return result
}

test.each<[string, string, string]>([
  ['', server, `${server}\n`],
  ['a = 1\n', server, `a = 1\n\n${server}\n`],
  ['a = 1', server, `a = 1\n\n${server}\n`],
  ['a = 1\r\n', '[b]\nc = 1', 'a = 1\r\n\r\n[b]\r\nc = 1\r\n'],
])('lines go to the end of %j', (before, lines, after) => {
  expect(added(before, lines).text).toBe(after)
})

test.each(['start', 'end'] as const)('a byte order mark stays first when lines go to the %s', (where) => {
  const before = '\ufeffa = 1\n'
  const { text, piece } = added(before, top, where)
  expect(text).toBe(where === 'start' ? `\ufeff${top}\n\na = 1\n` : `\ufeffa = 1\n\n${top}\n`)
  expect(removeFromToml(text, top, piece)).toEqual({ type: 'removed', text: before })
})

test('keys without a table go to the start, before any table', () => {
  expect(added('# mine\n[a]\nb = 1\n', top, 'start').text).toBe(`${top}\n\n# mine\n[a]\nb = 1\n`)
  expect(addToToml('[a]\nb = 1\n', top, 'end')).toEqual({
    type: 'problem',
    why: 'the lines would mean something else in it',
  })
})

test.each([
  {
    of: 'text that is not TOML',
    text: 'a = 1\nb = ',
    why: /^it is not valid TOML in line 2: /,
    todo: 'Correct it, then try again.',
  },
  {
    of: 'the same table',
    text: '[mcp_servers.everlong]\ncommand = "other"',
    why: /^it sets mcp_servers\.everlong\.command already$/,
    todo: 'Remove mcp_servers.everlong.command from it, then try again.',
  },
  {
    of: 'the same key',
    text: 'compact_prompt = "mine"',
    lines: top,
    why: /^it sets compact_prompt already$/,
    todo: 'Remove compact_prompt from it, then try again.',
  },
])('$of is refused, with what to do', ({ text, lines = server, why, todo }) => {
  expect(addToToml(text, lines, 'start')).toEqual({ type: 'problem', why: expect.stringMatching(why), todo })
})

test('lines that were changed since are not removed, and lines that are gone are no problem', () => {
  const { text, piece } = added('a = 1\n', server)
  expect(removeFromToml(text.replace('x.js', 'y.js'), server, piece)).toEqual({
    type: 'problem',
    why: 'the lines were changed',
  })
  expect(removeFromToml('a = 1\n', server, piece)).toEqual({ type: 'gone', text: 'a = 1\n' })
})

test('whatever the file, adding and removing gives the same bytes, and edits elsewhere survive', () => {
  const key = fc.stringMatching(/^[a-z]{1,6}$/)
  const table = fc.dictionary(key, fc.oneof(fc.integer(), fc.string(), fc.array(fc.boolean(), { maxLength: 3 })))
  const anyFile = fc.tuple(table, fc.dictionary(key, table, { maxKeys: 3 })).map(([keys, tables]) => {
    return stringify({ ...keys, ...tables })
  })
  const anyLines = fc.constantFrom<readonly [string, 'start' | 'end']>([server, 'end'], [top, 'start'])
  const byHand = (text: string) => `# by hand\n${text}\n[later]\nx = 1\n`
  const property = fc.property(anyFile, anyLines, (before, [lines, where]) => {
    if ('later' in parse(before)) return
    const { text, piece } = added(before, lines, where)
    expect(removeFromToml(text, lines, piece)).toEqual({ type: 'removed', text: before })
    expect(removeFromToml(byHand(text), lines, piece)).toEqual({ type: 'removed', text: byHand(before) })
  })
  fc.assert(property, { numRuns: 300 })
})
