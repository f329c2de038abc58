import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generateCodexRollout, generatePiSession } from '../../../../testing/index.ts'
import type { JsonObject } from '../../../message/json.ts'
import { liveWindow } from '../../tree/live.ts'
import { foldEntries } from '../../view/fold.ts'
import { type Entry, readHead } from '../entry.ts'
import { originOf } from '../messages.ts'
import { createTranscriptReader } from '../reader.ts'

function read(records: readonly JsonObject[]): { readonly entries: readonly Entry[]; readonly format: string } {
  const reader = createTranscriptReader()
  const position = (at: number) => ({ line: at + 1, offset: at, length: 1, nth: 0 })
  const entries = records.flatMap((record, at) => reader.read(record, position(at)))
  return { entries, format: reader.format() }
}

const liveLines = (entries: readonly Entry[]) => {
  const { order } = liveWindow(entries.map(readHead))
  return order.map((row) => entries[row]).filter((entry) => entry !== undefined)
}

test('a format is known by the first record that tells it, whatever comes before', () => {
  const unknown = [{ note: 'of a wrapper' }, { type: 'x', value: 1 }]
  const pi = generatePiSession({ seed: 1, turns: 2 }).records
  const codex = generateCodexRollout({ seed: 1, turns: 2 }).records
  expect([pi, codex].map((records) => read([...unknown, ...records]).format)).toEqual(['pi', 'codex'])
  expect(
    read([...unknown, ...pi])
      .entries.slice(2)
      .map(({ record }) => record),
  ).toEqual(read(pi).entries.map(({ record }) => record))
})

describe('pi sessions', () => {
  test.each([1, 3] as const)('of version %i have the live window that their maker knows', (version) => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 0, max: 2 }),
        (seed, turns, compactions) => {
          const { records, truth } = generatePiSession({ seed, version, turns, compactions })
          const { entries, format } = read(records)
          expect(format).toBe('pi')
          expect(entries.filter((entry) => readHead(entry).boundary).length).toBe(truth.compactions)
          const lines = liveLines(entries)
            .filter(({ record }) => record.subtype !== 'compact_boundary')
            .map(({ position }) => position.line - 1)
          expect(lines).toEqual(truth.live)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('calls, results, thinking, images and usage are read as the Messages API has them', () => {
    const usage = { input: 5, output: 7, cacheRead: 100, cacheWrite: 20 }
    const { entries } = read([
      { type: 'session', id: 's', cwd: '/w', timestamp: 't' },
      {
        type: 'message',
        timestamp: 't1',
        message: {
          role: 'assistant',
          model: 'claude-opus-4-5',
          usage,
          content: [
            { type: 'thinking', thinking: 'hm', thinkingSignature: 'sig' },
            { type: 'toolCall', id: 'c1', name: 'read', arguments: { path: 'a.ts' } },
          ],
        },
      },
      {
        type: 'message',
        timestamp: 't2',
        message: {
          role: 'toolResult',
          toolCallId: 'c1',
          isError: false,
          content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }],
        },
      },
    ])
    expect(entries.slice(1).map(({ record }) => record)).toEqual([
      {
        type: 'assistant',
        cwd: '/w',
        sessionId: 's',
        uuid: 'pi-1',
        parentUuid: null,
        isSidechain: false,
        timestamp: 't1',
        message: {
          id: 'pi-1',
          role: 'assistant',
          model: 'claude-opus-4-5',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'sig' },
            { type: 'tool_use', id: 'c1', name: 'read', input: { path: 'a.ts' } },
          ],
          usage: { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 100, cache_creation_input_tokens: 20 },
        },
      },
      {
        type: 'user',
        cwd: '/w',
        sessionId: 's',
        uuid: 'pi-2',
        parentUuid: 'pi-1',
        isSidechain: false,
        timestamp: 't2',
        message: {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c1',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }],
              is_error: false,
            },
          ],
        },
      },
    ])
  })

  const piSession = (...rest: readonly JsonObject[]) => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    const linked = rest.map((record, at) => ({ id: ids[at], parentId: ids[at - 1] ?? null, timestamp: 't', ...record }))
    return read([{ type: 'session', version: 3, id: 's', cwd: '/w' }, ...linked]).entries
  }
  const user = (text: string): JsonObject => ({ type: 'message', message: { role: 'user', content: text } })
  const answered = (text: string, more: JsonObject = {}): JsonObject => ({
    type: 'message',
    message: { role: 'assistant', content: [{ type: 'text', text }], ...more },
  })
  const called: JsonObject = {
    type: 'message',
    message: { role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 'read', arguments: {} }] },
  }
  const result: JsonObject = {
    type: 'message',
    message: { role: 'toolResult', toolCallId: 'c1', content: [{ type: 'text', text: 'long' }] },
  }
  const shown = (entries: readonly Entry[]) =>
    foldEntries(entries).messages.map(({ role, origin, content }) => [
      role,
      origin,
      typeof content === 'string'
        ? content
        : content.map((block) => block.text ?? block.content ?? block.name).join('|'),
    ])

  test('an edit of the context replaces or leaves out what the model sees', () => {
    const edits = [
      { type: 'context_edit', targetId: 'c', replacement: { content: [{ type: 'text', text: 'short' }] } },
      { type: 'context_edit', targetId: 'd', replacement: null },
    ]
    const entries = piSession(user('go'), called, result, answered('wrong'), ...edits)
    const [, , cleared] = foldEntries(entries).messages
    expect(shown(entries).map(([role]) => role)).toEqual(['user', 'assistant', 'user'])
    expect(cleared?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'short' }], is_error: undefined },
    ])
  })

  test('a tool result that is left out is cleared, so that its call keeps one', () => {
    const entries = piSession(user('go'), called, result, { type: 'context_edit', targetId: 'c', replacement: null })
    expect(shown(entries).at(-1)).toEqual(['user', 'tool-result', '[Old tool result content cleared]'])
  })

  test('edits and compactions of a branch that was left are out of the view', () => {
    const compaction = { type: 'compaction', summary: 'all of it', firstKeptEntryId: 'b', tokensBefore: 9 }
    const left = [{ type: 'context_edit', targetId: 'a', replacement: { content: 'edited' } }, compaction]
    expect(shown(piSession(user('go'), answered('done'), ...left, user('more')))).toEqual([
      ['user', 'summary', 'all of it'],
      ['assistant', 'assistant', 'done'],
      ['user', 'human', 'more'],
    ])
    expect(shown(piSession(user('go'), answered('done'), ...left, { ...user('more'), parentId: 'b' }))).toEqual([
      ['user', 'human', 'go'],
      ['assistant', 'assistant', 'done'],
      ['user', 'human', 'more'],
    ])
  })

  test('a compaction that keeps nothing names itself', () => {
    const compaction = { type: 'compaction', summary: 'all of it', firstKeptEntryId: 'c', tokensBefore: 9 }
    expect(shown(piSession(user('go'), answered('done'), compaction, user('more')))).toEqual([
      ['user', 'summary', 'all of it|more'],
    ])
  })

  test('what extensions and branches add is nobody’s words, and failed answers reach no model', () => {
    const entries = piSession(
      user('go'),
      answered('', { stopReason: 'error', content: [{ type: 'text', text: 'half' }] }),
      { type: 'custom_message', customType: 'x', content: 'injected', display: false },
      { type: 'branch_summary', summary: 'tried A', fromId: 'b' },
      { type: 'message', message: { role: 'bashExecution', command: 'ls', output: 'x', excludeFromContext: true } },
    )
    const origins = entries.slice(1).map(({ record }) => originOf(record))
    expect(origins).toEqual(['human', 'assistant', 'meta', 'meta', undefined])
    expect(JSON.stringify(shown(entries))).not.toContain('half')
  })

  test('records of kinds we do not know stay in the chain as they are', () => {
    const { entries } = read([
      { type: 'session', id: 's', cwd: '/w' },
      { type: 'label', id: 'a', parentId: null, text: 'x' },
    ])
    expect(entries[1]?.record).toMatchObject({ type: 'pi:label', uuid: 'a', text: 'x' })
  })
})

describe('Codex rollouts', () => {
  test('have as many compactions, calls and live items as their maker knows', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 0, max: 2 }),
        (seed, turns, compactions) => {
          const { records, truth } = generateCodexRollout({ seed, turns, compactions })
          const { entries, format } = read(records)
          const heads = entries.map(readHead)
          expect(format).toBe('codex')
          expect(heads.filter((head) => head.boundary).length).toBe(truth.compactions)
          expect(heads.reduce((sum, head) => sum + head.toolUses.length, 0)).toBe(truth.calls)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('a token count that is repeated counts once, and belongs to the items before it', () => {
    const count = (total: number) => ({
      timestamp: 't',
      type: 'event_msg',
      payload: {
        type: 'token_count',
        info: {
          total_token_usage: { total_tokens: total },
          last_token_usage: { input_tokens: 100, cached_input_tokens: 80, output_tokens: 9, total_tokens: 109 },
        },
      },
    })
    const said = {
      timestamp: 't',
      type: 'response_item',
      payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] },
    }
    const answers = read([said, count(109), count(109)]).entries.filter(({ record }) => record.type === 'assistant')
    expect(answers.map(({ record }) => record.message)).toEqual([
      { id: 'codex-answer-0', role: 'assistant', model: undefined, content: [{ type: 'text', text: 'hi' }] },
      {
        id: 'codex-answer-0',
        role: 'assistant',
        model: undefined,
        content: [],
        usage: { input_tokens: 20, cache_read_input_tokens: 80, output_tokens: 9 },
      },
    ])
  })

  test('a summary is read once, as a summary, and the request for it does not count as the size before', () => {
    const line = (type: string, payload: JsonObject, more: JsonObject = {}) => ({
      timestamp: 't',
      type,
      payload,
      ...more,
    })
    const said = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })
    const count = (total: number, last: number) =>
      line('event_msg', {
        type: 'token_count',
        info: { total_token_usage: { total_tokens: total }, last_token_usage: { total_tokens: last } },
      })
    const summary = 'Another language model started to solve this problem. Its summary:\nThe file was mended.'
    const { entries } = read([
      line('response_item', said('user', 'Mend the file.')),
      line('response_item', said('assistant', 'Mended.')),
      count(9_000, 9_000),
      line('response_item', said('assistant', 'The file was mended.'), { metadata: { compaction_output: true } }),
      count(15_000, 6_000),
      line('compacted', {
        message: summary,
        replacement_history: [said('user', 'Mend the file.'), said('user', summary)],
      }),
    ])
    const spoken = entries.flatMap(({ record }) => {
      const { content } = (record.message ?? {}) as JsonObject
      if (record.subtype === 'compact_boundary') return [['boundary', record.compactMetadata]]
      return Array.isArray(content) && content.length === 0 ? [] : content ? [[originOf(record), content]] : []
    })
    expect(spoken).toEqual([
      ['human', [{ type: 'text', text: 'Mend the file.' }]],
      ['assistant', [{ type: 'text', text: 'Mended.' }]],
      ['boundary', { trigger: 'unknown', preTokens: 9_000 }],
      ['summary', summary],
      ['meta', [{ type: 'text', text: 'Mend the file.' }]],
    ])
  })

  test("what a sub-agent is asked by its parent is an agent's, what it was forked with is a person's", () => {
    const said = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
    const line = (type: string, payload: JsonObject) => ({ timestamp: 't', type, payload })
    const rollout = (forked: JsonObject) => [
      line('session_meta', { id: '0005', source: { subagent: { thread_spawn: { depth: 1 } } }, ...forked }),
      line('session_meta', { id: '0001', source: 'cli' }),
      line('turn_context', { turn_id: '0002' }),
      line('response_item', said('Mend it, and let somebody review it.')),
      line('turn_context', { turn_id: '0006' }),
      line('response_item', said('Review the mended file.')),
      line('response_item', said('<environment_context>x</environment_context>')),
      line('compacted', {
        message: '',
        replacement_history: [said('Mend it, and let somebody review it.'), said('Review the mended file.')],
      }),
    ]
    const origins = (forked: JsonObject) =>
      read(rollout(forked)).entries.flatMap(({ record }) => (record.type === 'user' ? [originOf(record)] : []))
    // The compaction only repeats earlier messages.
    expect(origins({ forked_from_id: '0001' })).toEqual(['human', 'agent', 'meta', 'meta', 'meta'])
    expect(origins({})).toEqual(['agent', 'agent', 'meta', 'meta', 'meta'])
  })
})

describe('opencode sessions', () => {
  test.each([
    ['a prompt of opencode run', '"Read the \\"old\\" reports."', 'Read the "old" reports.'],
    ['a prompt that was typed', 'Read the reports.', 'Read the reports.'],
    ['one word in quotation marks, which opencode run would not add', '"reports"', '"reports"'],
    ['two quotations', '"Read" the "reports"', '"Read" the "reports"'],
  ])('%s is read as the person typed it', (_, text, typed) => {
    const info = { id: 'm1', sessionID: 'ses_1', role: 'user', time: { created: 0 } }
    const { entries } = read([{ info: { id: 'ses_1' }, messages: [{ info, parts: [{ type: 'text', text }] }] }])
    expect(entries.at(-1)?.record).toMatchObject({ message: { content: [{ type: 'text', text: typed }] } })
  })
})
