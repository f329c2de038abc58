import { describe, expect, test } from 'vitest'
import { type Block, blocksOf, isText, textOf, type ViewMessage } from '../../message/message.ts'
import {
  gapOf,
  type PreparedMessage,
  preparedMessages,
  truncated,
  truncationMarker,
  windowsOf,
  withFoldedIn,
} from './request.ts'

const attached = (attachment: string): ViewMessage => ({
  role: 'user',
  origin: 'attachment',
  attachment,
  content: `about ${attachment}`,
})

test('a summarizer does not see what is injected again anyway: lists of skills, tools and todos', () => {
  const kinds = ['skill_listing', 'skill_discovery', 'deferred_tools_delta', 'todo_reminder', 'file', 'diagnostics']
  const seen = preparedMessages(kinds.map(attached)).map(({ content }) => content[0]?.text)
  expect(seen).toEqual([
    '<context kind="file">\nabout file\n</context>',
    '<context kind="diagnostics">\nabout diagnostics\n</context>',
  ])
})

test('an image beside text in a tool result is named in its place, and the text stays', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }
  const result = (content: readonly object[]) => ({ type: 'tool_result', tool_use_id: 't', content })
  const message = (content: readonly object[]): ViewMessage =>
    ({ role: 'user', origin: 'tool-result', content: [result(content)] }) as never
  const seen = (content: readonly object[]) => preparedMessages([message(content)])[0]?.content
  const text = { type: 'text', text: 'A picture:' }
  const named = { type: 'text', text: '[image]' }
  expect(seen([text, image])).toEqual([result([text, named])])
  expect(seen([image])).toEqual([result([named])])
  expect(seen([text])).toEqual([result([text])])
})

const countTokens = (text: string) => Math.ceil(text.length / 4)
function message(role: 'user' | 'assistant', text: string): PreparedMessage {
  const content: readonly Block[] = [{ type: 'text', text }]
  const piece: ViewMessage = { role, content, origin: role === 'user' ? 'human' : 'assistant' }
  return { role, content, piece }
}
const rounds = (count: number) =>
  Array.from({ length: count }, (_, at) => [message('user', `ask ${at}`), message('assistant', `answer ${at}`)]).flat()
const weigh = () => 10

describe('dropping the oldest rounds', () => {
  test('drops as many as cover the gap, and a fifth of them where it is not known', () => {
    const dropped = (gap: number | undefined) => truncated(rounds(10), { gap, weigh })?.groups
    const all = truncated(rounds(10), { gap: 1, weigh })
    const total = (all?.groups.dropped ?? 0) + (all?.groups.left ?? 0)
    expect(dropped(1)).toEqual({ dropped: 1, left: total - 1 })
    expect(dropped(21)?.dropped).toBeGreaterThan(1)
    expect(dropped(undefined)).toEqual({ dropped: Math.floor(total / 5), left: total - Math.floor(total / 5) })
  })

  test('something is always left, however large the gap, and one round alone cannot be made smaller', () => {
    const most = truncated(rounds(4), { gap: 1e9, weigh })
    expect(most?.left.length).toBeGreaterThan(0)
    expect(most?.groups.left).toBe(1)
    expect([...(most?.dropped ?? []), ...(most?.left ?? [])]).toEqual(rounds(4))
    expect(truncated([message('user', 'only one')], { gap: 1e9, weigh })).toBe(undefined)
  })

  test('at least one round goes', () => {
    expect(truncated(rounds(4), { gap: 0, weigh })?.groups.dropped).toBe(1)
    expect(truncated(rounds(2), { gap: undefined, weigh })?.groups.dropped).toBe(1)
  })
})

test('the gap counts the room for the answer, and is unknown where the error did not say', () => {
  expect(gapOf({ actual: 190, limit: 200, maxTokens: 32 })).toBe(22)
  expect(gapOf({ actual: 250, limit: 200 })).toBe(50)
  expect(gapOf({ actual: 150, limit: 200, maxTokens: 32 })).toBe(undefined)
  expect(gapOf({ limit: 200 })).toBe(undefined)
  expect(gapOf({ actual: 200 })).toBe(undefined)
  expect(gapOf(undefined)).toBe(undefined)
})

describe('what was dropped', () => {
  test('is told instead, before what is left, with a marker where an answer would open', () => {
    const [first, ...rest] = withFoldedIn(
      { dropped: [message('user', 'Never push to main.')], left: [message('assistant', 'Done.')] },
      { countTokens, tokens: 2_000 },
    )
    expect(first?.role).toBe('user')
    expect(JSON.stringify(first?.content)).toContain('Never push to main.')
    expect(JSON.stringify(first?.content)).toContain(truncationMarker)
    expect(rest).toEqual([message('assistant', 'Done.')])
  })

  test('is told within its tokens, with everything that stands around it', () => {
    const told = { dropped: rounds(30), left: [message('assistant', 'Done.')] }
    for (let tokens = 15; tokens < 400; tokens += 5) {
      const [first] = withFoldedIn(told, { countTokens, tokens })
      const texts = blocksOf(first?.content).filter(isText)
      expect(texts.reduce((sum, { text }) => sum + countTokens(text), 0)).toBeLessThanOrEqual(tokens)
    }
  })

  test('leaves no trace where nothing was', () => {
    const left = [message('user', 'x')]
    expect(withFoldedIn({ dropped: [], left }, { countTokens, tokens: 2_000 })).toBe(left)
  })
})

test('a round with a result that is larger than the window is cut to fit it', () => {
  const message = (role: 'user' | 'assistant', content: PreparedMessage['content']): PreparedMessage => ({
    role,
    content,
    piece: { role, content, origin: role === 'user' ? 'tool-result' : 'assistant' },
  })
  const weigh = ({ content }: { readonly content: unknown }) => Math.ceil(JSON.stringify(content).length / 4)
  const round = [
    message('assistant', [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'cat log' } }]),
    message('user', [{ type: 'tool_result', tool_use_id: 't1', content: `BEGIN ${'log line '.repeat(5_000)} END` }]),
  ]
  const [window = []] = windowsOf(round, { size: 2_000, weigh })
  expect(window.reduce((sum, each) => sum + weigh(each), 0)).toBeLessThanOrEqual(2_000)
  const text = textOf((window[1]?.content[0] as { content?: unknown } | undefined)?.content)
  expect(text).toMatch(/^BEGIN [\s\S]+ END$/)
})
