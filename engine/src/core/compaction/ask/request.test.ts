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
