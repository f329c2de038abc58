import { describe, expect, test } from 'vitest'
import { microcompact } from './microcompact.ts'
import type { AnthropicMessage, OpenAIMessage } from './plain-messages.ts'

const text = (at: number) => `line ${at} of a long file. `.repeat(200)

/** `count` calls of a reading tool, each answered. */
function anthropicReads(count: number): AnthropicMessage[] {
  return [
    { role: 'user', content: 'Read them all.' },
    ...Array.from({ length: count }, (_, at): AnthropicMessage[] => [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: `/src/${at}.ts` } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: text(at) }] },
    ]).flat(),
    { role: 'assistant', content: 'Read.' },
  ]
}

function openaiReads(count: number): OpenAIMessage[] {
  const call = (at: number) => ({
    id: `t${at}`,
    type: 'function',
    function: { name: 'Read', arguments: JSON.stringify({ file_path: `/src/${at}.ts` }) },
  })
  return [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Read them all.' },
    ...Array.from({ length: count }, (_, at): OpenAIMessage[] => [
      { role: 'assistant', content: null, tool_calls: [call(at)] },
      { role: 'tool', tool_call_id: `t${at}`, content: text(at) },
    ]).flat(),
    { role: 'assistant', content: 'Read.' },
  ]
}

describe('microcompact', () => {
  test('old results become a note, the newest stay, and what did not change is the very same object', () => {
    const messages = anthropicReads(5)
    const { messages: smaller, cleared, tokens, why } = microcompact(messages, { keep: 2 })
    const note = (at: number) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: '[Old tool result content cleared]' }],
    })
    expect(smaller).toEqual(messages.map((message, at) => ([2, 4, 6].includes(at) ? note(at / 2 - 1) : message)))
    expect(smaller.filter((message, at) => message === messages[at])).toHaveLength(messages.length - 3)
    expect([cleared, why]).toEqual([3, undefined])
    expect(tokens.after).toBeLessThan(tokens.before / 2)
  })

  test('messages of chat completions stay messages of chat completions', () => {
    const messages = openaiReads(3)
    const { messages: smaller } = microcompact(messages, { keep: 1 })
    expect(smaller.map(({ role, content }) => [role, String(content).slice(0, 5)])).toEqual([
      ['system', 'Be br'],
      ['user', 'Read '],
      ['assistant', 'null'],
      ['tool', '[Old '],
      ['assistant', 'null'],
      ['tool', '[Old '],
      ['assistant', 'null'],
      ['tool', 'line '],
      ['assistant', 'Read.'],
    ])
  })

  test('a target keeps as many as fit', () => {
    const { cleared } = microcompact(anthropicReads(10), { keep: 1, target: 8_000 })
    expect(cleared).toBeGreaterThan(0)
    expect(cleared).toBeLessThan(9)
  })

  test('results of a tool that nobody knows stay, unless it is said that they can be had again', () => {
    const unknown = JSON.parse(JSON.stringify(anthropicReads(5)).replaceAll('"Read"', '"lookup"')) as AnthropicMessage[]
    expect(microcompact(unknown)).toMatchObject({ cleared: 0, leftAlone: ['lookup'] })
    expect(microcompact(unknown, { reproducible: ['lookup'] }).cleared).toBe(2)
  })

  test('nothing happens where compaction is turned off, and the reason is given', () => {
    expect(microcompact(anthropicReads(5), { environment: { DISABLE_COMPACT: '1' } })).toMatchObject({
      cleared: 0,
      why: 'Compaction is off: DISABLE_COMPACT.',
    })
  })

  test('what is no message is refused by name', () => {
    expect(() => microcompact([{ role: 'robot', content: '' } as never])).toThrow(
      'microcompact(): message 0 has the role',
    )
  })

  test('tools that nobody vouched for are left alone and named, with what to do about it', () => {
    const own = (name: string, id: string): AnthropicMessage[] => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text(1) }] },
    ]
    const messages = [...own('search_orders', 'a'), ...own('send_mail', 'b'), ...own('search_orders', 'c')]
    const alone = microcompact([...messages, { role: 'assistant', content: 'Done.' }], { keep: 0 })
    expect(alone.leftAlone).toEqual(['search_orders', 'send_mail'])
    expect(alone.why).toMatch(/results of search_orders, send_mail were left alone.* `reproducible`/)
    const some = microcompact([...messages, { role: 'assistant', content: 'Done.' }], {
      keep: 0,
      reproducible: ['search_orders'],
    })
    expect([some.cleared, some.leftAlone, some.why]).toEqual([2, ['send_mail'], undefined])
    expect(microcompact(anthropicReads(2), { keep: 9 }).why).not.toContain('reproducible')
  })
})
