import { AIMessage } from '@langchain/core/messages'
import { expect, test } from 'vitest'
import { readLangChainMessage, withContent } from './messages.ts'

const answer = (thinking: object) =>
  new AIMessage({
    content: [
      { type: 'thinking', thinking: 'Which file?', ...thinking },
      { type: 'text', text: 'Done.' },
    ] as never,
  })

test('thinking without a signature stays with its message and is no block of a request: every API refuses it', () => {
  const read = (thinking: object) => readLangChainMessage(answer(thinking)).content
  expect(read({})).toEqual([{ type: 'text', text: 'Done.' }])
  expect(read({ signature: '' })).toEqual([{ type: 'text', text: 'Done.' }])
  expect(read({ signature: 's' })).toMatchObject([{ type: 'thinking', signature: 's' }, { type: 'text' }])
})

test('a changed message is another object of the same class, and the one that was given stays as it was', () => {
  const given = answer({})
  const copy = withContent(given, 'Short.')
  expect(copy).toBeInstanceOf(AIMessage)
  expect([copy.content, copy.lc_kwargs.content, given.content.length]).toEqual(['Short.', 'Short.', 2])
})
