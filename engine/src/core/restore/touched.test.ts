import { expect, test } from 'vitest'
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { attachmentContent } from '../transcript/format/attachments.ts'
import { clearedText } from '../transcript/format/messages.ts'
import { touchedFiles, visibleFiles } from './touched.ts'

let count = 0

/** A call with its result. */
function use(name: string, input: JsonObject, text = 'done', more: JsonObject = {}): readonly ViewMessage[] {
  const id = `t${count++}`
  const result = { type: 'tool_result', tool_use_id: id, content: text, ...more }
  return [
    { role: 'assistant', origin: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
    { role: 'user', origin: 'tool-result', content: [result] },
  ]
}

const attach = (attachment: string, content: JsonObject): ViewMessage => ({
  role: 'user',
  origin: 'attachment',
  attachment,
  content: attachmentContent({ type: attachment, ...content }),
})

const read = (text = '1\tx', path = '/a.ts') => use('Read', { file_path: path }, text)
const file = (numLines: number) =>
  attach('file', { filename: '/a.ts', content: { file: { content: 'x', numLines, totalLines: 9 } } })

test.each<[string, readonly ViewMessage[], boolean]>([
  ['a whole read', read(), true],
  ['a read that was cleared', read(clearedText), false],
  ['a pointer to an older read', read('File unchanged since last read.'), false],
  ['a part', use('Read', { file_path: '/a.ts', offset: 5, limit: 2 }, '5\tx'), false],
  ['a read that failed', use('Read', { file_path: '/a.ts' }, 'no', { is_error: true }), false],
  ['a read and an edit', [...read(), ...use('Edit', { file_path: '/a.ts', old_string: 'x', new_string: 'y' })], false],
  ['a read, an edit, a read', [...read(), ...use('Write', { file_path: '/a.ts', content: 'y' }), ...read()], true],
  ['a read and sed -i', [...read(), ...use('Bash', { command: "sed -i 's/x/y/' a.ts" })], false],
  ['a read and a formatter', [...read(), ...use('Bash', { command: 'npx prettier --write .' })], false],
  ['a read and the tests', [...read(), ...use('Bash', { command: 'npm test' })], true],
  [
    'a read and somebody’s edit',
    [...read(), attach('edited_text_file', { filename: '/a.ts', snippet: '1\ty' })],
    false,
  ],
  ['a file that the client put in', [file(9)], true],
  ['a part that the client put in', [file(3)], false],
  ['the path alone', [attach('compact_file_reference', { filename: '/a.ts' })], false],
])('%s', (_, messages, isVisible) => {
  expect([...visibleFiles(messages)]).toEqual(isVisible ? ['/a.ts'] : [])
})

/** An attachment that a tool read for the client. */
const readFor = (text: string, lines: JsonObject) => {
  const toolUseResult = { type: 'text', file: { filePath: '/a.ts', ...lines } }
  const attachment = { type: 'Attached file', content: `The file:\n\n${text}`, toolUseResult }
  const message: ViewMessage = { ...attach('Attached file', attachment), uuid: 'u1' }
  return { messages: [message], recordOf: () => ({ type: 'attachment', attachment }) }
}

test.each<[string, ReturnType<typeof readFor>, boolean, readonly (readonly [number, number])[]]>([
  ['whole', readFor('1\tx\n2\ty', { startLine: 1, numLines: 2, totalLines: 2 }), true, [[1, Infinity]]],
  ['in part', readFor('1\tx\n2\ty', { startLine: 1, numLines: 2, totalLines: 3 }), false, [[1, 2]]],
  ['from its second line', readFor('2\ty', { startLine: 2, numLines: 1, totalLines: 2 }), false, [[2, Infinity]]],
  ['again', readFor('a.ts is unchanged since you read it.', {}), false, [[1, Infinity]]],
])('a file that a tool attached %s counts as read', (_, { messages, recordOf }, isVisible, seen) => {
  expect([...visibleFiles(messages, { recordOf })]).toEqual(isVisible ? ['/a.ts'] : [])
  expect(touchedFiles(messages, { recordOf })).toEqual([{ path: '/a.ts', isEdited: false, inserted: [], seen }])
})

test('one file in two spellings is one file, for what is visible and for what was touched', () => {
  const messages = [...read('1\tx', '/w/src/a.ts'), ...read('1\tx', './src/a.ts')]
  expect([...visibleFiles(messages, { root: '/w' })]).toEqual(['src/a.ts'])
  expect(touchedFiles(messages, { root: '/w' }).map(({ path }) => path)).toEqual(['/w/src/a.ts'])
})

test('a path that is the end of one other is that file, and one that could be two is neither', () => {
  const edit = use('Edit', { file_path: 'D:\\w\\site\\src\\a.ts', old_string: 'a', new_string: 'b' })
  const messages = [...edit, ...use('Bash', { command: 'cd site && cat src/a.ts' })]
  expect(touchedFiles(messages, { root: 'D:\\w' })).toEqual([
    { path: 'D:\\w\\site\\src\\a.ts', isEdited: true, inserted: ['b'], seen: [[1, Number.POSITIVE_INFINITY]] },
  ])
  const both = [...messages, ...read('1\tx', '/w/other/src/a.ts')]
  expect(touchedFiles(both).map(({ path }) => path)).toEqual([
    '/w/other/src/a.ts',
    'src/a.ts',
    'D:\\w\\site\\src\\a.ts',
  ])
})

test('touched files come newest first, with what was put into them and which lines were read', () => {
  const patch = '*** Begin Patch\n*** Update File: p.ts\n@@\n keep\n-old\n+new\n*** End Patch'
  const messages = [
    ...use('Grep', { pattern: 'x', path: '/found.ts' }, '/found.ts:1:x'),
    ...use('Read', { file_path: '/r.ts', offset: 10, limit: 5 }),
    ...use('Bash', { command: "sed -n '3,9p' s.ts" }),
    ...use('Edit', { file_path: '/e.ts', old_string: 'a', new_string: 'b' }),
    ...use('Edit', { file_path: '/e.ts', old_string: 'c', new_string: 'd' }),
    ...use('apply_patch', { patch }),
    ...use('Write', { file_path: '/no.ts', content: 'x' }, 'denied', { is_error: true }),
    ...use('Bash', { command: 'cat missing.ts' }, 'No such file', { is_error: true }),
    ...use('open_doc', { path: '/doc.ts' }),
  ]
  const named = { open_doc: 'read' } as const
  const whole = [1, Number.POSITIVE_INFINITY]
  expect(touchedFiles(messages, { named })).toEqual([
    { path: '/doc.ts', isEdited: false, inserted: [], seen: [whole] },
    { path: 'p.ts', isEdited: true, inserted: ['keep\nnew'], seen: [] },
    { path: '/e.ts', isEdited: true, inserted: ['b', 'd'], seen: [] },
    { path: 's.ts', isEdited: false, inserted: [], seen: [[3, 9]] },
    { path: '/r.ts', isEdited: false, inserted: [], seen: [[10, 14]] },
  ])
  expect(touchedFiles(messages)).toHaveLength(4)
})

test('of many edits and reads of one file the newest eight are remembered', () => {
  const nine = Array.from({ length: 9 }, (_, at) => at + 1)
  const messages = nine.flatMap((at) => [
    ...use('Edit', { file_path: '/a.ts', old_string: 'x', new_string: `text ${at}` }),
    ...use('Read', { file_path: '/a.ts', offset: at, limit: 1 }, `${at}\tx`),
  ])
  const newest = nine.slice(1)
  expect(touchedFiles(messages)).toEqual([
    {
      path: '/a.ts',
      isEdited: true,
      inserted: newest.map((at) => `text ${at}`),
      seen: newest.map((at) => [at, at]),
    },
  ])
})

test('what was touched before the user spoke for the third-last time is earlier; a command to the client is no message', () => {
  const said = (content: string): ViewMessage => ({ role: 'user', origin: 'human', content })
  const read = (path: string) => use('Read', { file_path: path })
  const talk = [
    said('One.'),
    ...read('/1'),
    said('Two.'),
    ...read('/2'),
    said('Three.'),
    ...read('/3'),
    said('/compact'),
  ]
  const earlier = (messages: readonly ViewMessage[]) =>
    touchedFiles(messages).flatMap(({ path, isEarlier }) => (isEarlier ? [path] : []))
  expect(earlier(talk)).toEqual([])
  expect(earlier([...talk, said('Four.')])).toEqual(['/1'])
  expect(earlier([...talk, said('Four.'), ...read('/1')])).toEqual([])
})

test('of many reads of one file, the latest places are remembered', () => {
  const reads = Array.from({ length: 12 }, (_, at) => use('Read', { file_path: '/a.ts', offset: at + 1, limit: 1 }))
  expect(touchedFiles(reads.flat())[0]?.seen).toEqual([5, 6, 7, 8, 9, 10, 11, 12].map((line) => [line, line]))
})

test('the file to which the client saved a long output is not one being worked on, even if it was read', () => {
  const saved = '<persisted-output>\nOutput too large (35.1KB). Full output saved to: /tmp/b1.txt\n\nPreview:\nx'
  const messages = [...use('Bash', { command: 'gh api comments' }, saved), ...read('1\tx', '/tmp/b1.txt'), ...read()]
  expect(touchedFiles(messages).map(({ path }) => path)).toEqual(['/a.ts'])
})

test('a file that was last touched before the last commit is finished; one that is read or edited after it is not', () => {
  const edit = (path: string) => use('Edit', { file_path: path, old_string: 'x', new_string: 'y' })
  const commit = use('Bash', { command: 'git commit -m x' }, '[main 1a2b3c4] Open the gate')
  const isEarlier = (...messages: readonly (readonly ViewMessage[])[]) =>
    Object.fromEntries(touchedFiles(messages.flat()).map((file) => [file.path, file.isEarlier === true]))
  expect(isEarlier(edit('/a.ts'), edit('/b.ts'), commit, edit('/b.ts'), read('1\tx', '/c.ts'))).toEqual({
    '/a.ts': true,
    '/b.ts': false,
    '/c.ts': false,
  })
  const quoted = use('Bash', { command: 'cat log' }, 'made [main 1a2b3c4] Open the gate')
  expect(isEarlier(edit('/a.ts'), quoted)).toEqual({ '/a.ts': false })
})
