import { expect, test } from 'vitest'
import type { ViewMessage } from '../../message/message.ts'
import { preparedMessages } from './request.ts'

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
