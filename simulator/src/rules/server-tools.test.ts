// Calls that run on the server, with their results, and turns that are paused on them.
import { describe, expect, test } from 'vitest'
import { ask, errorOf, simulate } from '../testing/ask.ts'

const simulator = simulate()
const text = (value: string) => ({ type: 'text', text: value })
const user = (...content: unknown[]) => ({ role: 'user', content })
const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
const search = (id: string, more: object = {}) => ({
  type: 'server_tool_use',
  id,
  name: 'web_search',
  input: {},
  ...more,
})
const found = (id: string) => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] })
const use = { type: 'tool_use', id: 't1', name: 'read', input: {} }
const result = { type: 'tool_result', tool_use_id: 't1', content: 'ok' }

async function told(...messages: readonly unknown[]): Promise<unknown> {
  const { status, body } = await ask(simulator, { model: 'claude-sonnet-5', max_tokens: 100, messages })
  return status === 200 ? 'taken' : (errorOf({ status, body }) as { readonly message: string }).message
}

const unanswered =
  '`web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block'
const orphaned =
  'unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.'

describe('a call of a server tool', () => {
  test('with its result after it is taken, also in a later answer', async () => {
    expect(
      await told(user(text('a')), assistant(search('srvtoolu_1'), found('srvtoolu_1'), text('b')), user(text('c'))),
    ).toBe('taken')
    const later = [
      user(text('a')),
      assistant(search('srvtoolu_1'), use),
      user(result),
      assistant(found('srvtoolu_1'), text('b')),
    ]
    expect(await told(...later, user(text('c')))).toBe('taken')
  })

  test('without a result is taken only where the turn is paused on it', async () => {
    const paused = [user(text('a')), assistant(text('b'), search('srvtoolu_1'))]
    expect(await told(...paused)).toBe('taken')
    expect(await told(...paused, user(text('c')))).toBe(`messages.1: ${unanswered}`)
    const both = [user(text('a')), assistant(search('srvtoolu_1'), use), user(result)]
    expect(await told(...both)).toBe('taken')
    expect(await told(...both, user(text('c')))).toBe(`messages.1: ${unanswered}`)
    expect(await told(...both, assistant(text('b')), user(text('c')))).toBe(`messages.1: ${unanswered}`)
  })

  test('has an id of its own kind, and the same one only once', async () => {
    const pattern = "String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
    expect(await told(user(text('a')), assistant(search('toolu_1')))).toBe(
      `messages.1.content.0.server_tool_use.id: ${pattern}`,
    )
    expect(await told(user(text('a')), assistant(search('srvtoolu_1'), found('x')))).toBe(
      `messages.1.content.1.web_search_tool_result.tool_use_id: ${pattern}`,
    )
    expect(await told(user(text('a')), assistant(search('srvtoolu_1', { input: 'x' })))).toBe(
      'messages.1.content.0.server_tool_use.input: Input should be a valid dictionary',
    )
    const twice = assistant(search('srvtoolu_1'), found('srvtoolu_1'), search('srvtoolu_1'))
    expect(await told(user(text('a')), twice)).toBe('messages.1.content.2: `server_tool_use` ids must be unique')
  })
})

describe('a result of a server tool', () => {
  test('needs its call before it', async () => {
    expect(await told(user(text('a')), assistant(found('srvtoolu_1'), text('b')), user(text('c')))).toBe(
      `messages.1.content.0: ${orphaned}`,
    )
    expect(await told(user(text('a')), assistant(found('srvtoolu_1'), search('srvtoolu_1')))).toBe(
      `messages.1.content.0: ${orphaned}`,
    )
  })

  test('and a call come from the assistant', async () => {
    for (const block of [search('srvtoolu_1'), found('srvtoolu_1')]) {
      expect(await told(user(block))).toBe(`messages.0: \`${block.type}\` blocks can only be in \`assistant\` messages`)
    }
  })
})
