import * as messages from '@langchain/core/messages'
import { expect, test } from 'vitest'
import type { ModelRequest } from '../../core/ports/model.ts'
import { chatModelClient } from './client.ts'

const { AIMessage } = messages
const request: ModelRequest = {
  source: 'compact',
  model: 'any',
  system: 'Be brief.',
  messages: [{ role: 'user', content: 'Summarize.' }],
}

/** Records how each request sees the model. */
class FakeModel {
  readonly model = 'fake'
  thinking: { readonly type: string; readonly budget_tokens?: number }
  readonly asked: unknown[]

  constructor(type: string, asked: unknown[]) {
    this.thinking = { type }
    this.asked = asked
  }

  async invoke(input: readonly { readonly content: unknown }[], { tags }: { readonly tags: readonly string[] }) {
    this.asked.push({ thinking: this.thinking.type, contents: input.map(({ content }) => content), tags })
    return new AIMessage({ content: 'In short.', response_metadata: { finish_reason: 'length' } })
  }
}

test('a summary is requested without thinking and outside the stream, and the agent’s own model keeps thinking', async () => {
  const asked: unknown[] = []
  const model = new FakeModel('enabled', asked)
  const client = chatModelClient(
    () => model as never,
    async () => messages as never,
  )
  const answers = [await client.send(request), await client.send(request)]
  expect(answers).toMatchObject(
    answers.map(() => ({ type: 'answer', content: [{ text: 'In short.' }], stopReason: 'max_tokens' })),
  )
  expect(model.thinking).toEqual({ type: 'enabled' })
  const expected = { thinking: 'disabled', contents: ['Be brief.', 'Summarize.'], tags: ['nostream'] }
  expect(asked).toEqual([expected, expected])
})
