import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ViewMessage } from '../message/message.ts'
import { breakdown } from './breakdown.ts'
import { duplicateReads } from './file-reads.ts'

const letters = (tokens: number) => 'x'.repeat(tokens * 4)
const user = (origin: ViewMessage['origin'], content: ViewMessage['content'], attachment?: string): ViewMessage => ({
  role: 'user',
  origin,
  content,
  ...(attachment === undefined ? {} : { attachment }),
})
const assistant = (content: ViewMessage['content'], total?: number): ViewMessage => ({
  role: 'assistant',
  origin: 'assistant',
  content,
  ...(total === undefined
    ? {}
    : { usage: { input: total, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 } }),
})
type ReadOptions = { name?: string; tokens?: number; text?: string; isError?: boolean }
const read = (id: string, input: unknown, options: ReadOptions = {}) => [
  assistant([{ type: 'tool_use', id, name: options.name ?? 'Read', input }]),
  user('tool-result', [
    {
      type: 'tool_result',
      tool_use_id: id,
      content: options.text ?? letters(options.tokens ?? 10),
      is_error: options.isError ?? false,
    },
  ]),
]

const conversation: readonly ViewMessage[] = [
  user('human', letters(10)),
  user('attachment', letters(20), 'skill_listing'),
  user('meta', letters(5)),
  ...read('r1', { file_path: 'a.ts' }, { tokens: 100 }),
  assistant([{ type: 'text', text: letters(30) }]),
  user('human', [{ type: 'image', source: { type: 'url', url: 'x' } }]),
  ...read('r2', { file_path: 'a.ts' }, { tokens: 110 }),
]

describe('the breakdown', () => {
  test('tells tokens by kind and by part, and the sum is the context size', () => {
    const result = breakdown({
      messages: [...conversation, assistant(letters(1), 3_000)],
      estimator: 'chars/4',
      systemPrompt: letters(200),
      tools: [{ name: 'mcp__docs__search', definition: letters(40) }],
      memoryFiles: [{ path: 'NOTES.md', text: letters(60) }],
    })
    const request = Math.round('Read{"file_path":"a.ts"}'.length / 4)
    const definition = Math.round(`mcp__docs__search"${letters(40)}"`.length / 4)
    expect(result).toEqual({
      size: { tokens: 3_000, reported: 3_000, estimated: 0, source: 'usage' },
      kinds: [
        { kind: 'images', tokens: 2_000, parts: [] },
        { kind: 'tool-results', tokens: 210, parts: [{ name: 'Read', tokens: 210 }] },
        { kind: 'system-prompt', tokens: 200, parts: [] },
        { kind: 'memory-files', tokens: 60, parts: [{ name: 'NOTES.md', tokens: 60 }] },
        { kind: 'tool-definitions', tokens: definition, parts: [{ name: 'mcp__docs__search', tokens: definition }] },
        { kind: 'assistant-text', tokens: 31, parts: [] },
        { kind: 'attachments', tokens: 20, parts: [{ name: 'skill_listing', tokens: 20 }] },
        { kind: 'tool-requests', tokens: 2 * request, parts: [{ name: 'Read', tokens: 2 * request }] },
        { kind: 'human-messages', tokens: 10, parts: [] },
        { kind: 'injected-text', tokens: 5, parts: [] },
      ],
      unattributed: 3_000 - (2_000 + 210 + 200 + 60 + definition + 31 + 20 + 2 * request + 10 + 5),
      toolServers: [{ name: 'docs', tokens: definition }],
      duplicateReads: { tokens: 100, files: [{ path: 'a.ts', reads: 1, tokens: 100 }] },
    })
  })

  test('shares what the API counted where the parts were estimated higher', () => {
    const { kinds, unattributed, duplicateReads } = breakdown({
      messages: [...conversation, assistant('', 1_000)],
      estimator: 'chars/4',
    })
    expect(kinds.reduce((sum, { tokens }) => sum + tokens, unattributed)).toBe(1_000)
    expect(unattributed).toBeLessThanOrEqual(2)
    // 2,000 and 210 of 2,287 tokens. 100 of them were read twice.
    expect(kinds.slice(0, 2).map(({ kind, tokens }) => [kind, tokens])).toEqual([
      ['images', 875],
      ['tool-results', 92],
    ])
    expect(kinds[1]?.parts).toEqual([{ name: 'Read', tokens: 92 }])
    expect(duplicateReads.tokens).toBe(44)
  })

  test('always adds up to the context size', () => {
    const message = fc
      .tuple(fc.constantFrom('human', 'meta', 'summary', 'attachment'), fc.string())
      .map(([origin, text]) => user(origin as ViewMessage['origin'], text))
    const answer = fc
      .tuple(fc.string(), fc.option(fc.nat(9_000), { nil: undefined }))
      .map(([text, total]) => assistant(text, total))
    fc.assert(
      fc.property(fc.array(fc.oneof(message, answer)), fc.string(), (messages, systemPrompt) => {
        const { kinds, size, unattributed } = breakdown({ messages, systemPrompt, model: 'claude-opus-5' })
        expect(kinds.reduce((sum, { tokens }) => sum + tokens, unattributed)).toBe(size.tokens)
        expect(Math.min(0, unattributed, ...kinds.map(({ tokens }) => tokens))).toBe(0)
      }),
    )
  })
})

describe('duplicate reads', () => {
  const duplicates = (...messages: readonly (readonly ViewMessage[])[]) =>
    duplicateReads(messages.flat()).map(({ toolUseId }) => toolUseId)

  test('the older read of the same file is the duplicate, in every spelling', () => {
    const spellings: readonly (readonly [string, object])[] = [
      ['Read', { file_path: 'a.ts' }],
      ['read_file', { path: './a.ts' }],
      ['view', { filename: 'a.ts' }],
      ['mcp__filesystem__read_text_file', { path: 'a.ts' }],
      ['str_replace_based_edit_tool', { command: 'view', path: 'a.ts' }],
      ['read', { filePath: 'a.ts' }],
    ]
    const reads = spellings.map(([name, input], index) => read(`r${index}`, input, { name }))
    expect(duplicates(...reads)).toEqual(['r0', 'r1', 'r2', 'r3', 'r4'])
  })

  test('a pointer to an older read brings nothing again, and is no duplicate itself', () => {
    const pointer = (id: string) => read(id, { file_path: 'a.ts' }, { text: 'File unchanged since last read.' })
    expect(duplicates(read('r1', { file_path: 'a.ts' }), pointer('p1'))).toEqual([])
    expect(duplicates(pointer('p1'), read('r1', { file_path: 'a.ts' }), read('r2', { file_path: 'a.ts' }))).toEqual([
      'r1',
    ])
  })

  test('another range of the file is no duplicate, unless a later read covers it', () => {
    const part = (id: string, offset: number, limit: number) => read(id, { file_path: 'a.ts', offset, limit })
    expect(duplicates(part('a', 1, 100), part('b', 101, 100))).toEqual([])
    expect(duplicates(part('a', 11, 10), part('b', 1, 100))).toEqual(['a'])
    expect(duplicates(part('a', 1, 100), part('b', 11, 10))).toEqual([])
    expect(duplicates(part('a', 11, 10), read('b', { file_path: 'a.ts' }))).toEqual(['a'])
    expect(
      duplicates(
        read('a', { path: 'a', view_range: [5, 9] }, { name: 'view' }),
        read('b', { path: 'a', start_line: 1, end_line: 9 }, { name: 'view' }),
      ),
    ).toEqual(['a'])
  })

  test('other files, other tools and failed reads are none', () => {
    expect(duplicates(read('a', { file_path: 'a.ts' }), read('b', { file_path: 'b.ts' }))).toEqual([])
    expect(duplicates(read('a', { file_path: 'a.ts' }, { name: 'Edit' }), read('b', { file_path: 'a.ts' }))).toEqual([])
    expect(duplicates(read('a', { file_path: 'a.ts' }), read('b', { file_path: 'a.ts' }, { isError: true }))).toEqual(
      [],
    )
    expect(
      duplicates(
        read('a', { command: 'create', path: 'a.ts' }, { name: 'str_replace_based_edit_tool' }),
        read('b', { command: 'view', path: 'a.ts' }, { name: 'str_replace_based_edit_tool' }),
      ),
    ).toEqual([])
  })
})
