// Limits on the size of images, exactly at the limit.
import { expect, test } from 'vitest'
import { ask, simulate } from '../testing/ask.ts'

const png = (side: number) => {
  const head = Buffer.alloc(33)
  head.write('\x89PNG\r\n\x1a\n', 0, 'latin1')
  head.writeUInt32BE(side, 16)
  head.writeUInt32BE(side, 20)
  return head.toString('base64')
}
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png(2_500) } }

test('twenty large images are taken, and twenty-one are not', async () => {
  const send = async (count: number) => {
    const body = {
      model: 'claude-sonnet-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: Array.from({ length: count }, () => image) }],
    }
    return (await ask(simulate(), body)).status
  }
  expect([await send(20), await send(21)]).toEqual([200, 400])
})

test('an image in a tool result is refused with its own place', async () => {
  const broken = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png(9_000) } }
  const text = { type: 'text', text: 'Seen.' }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }
  const body = {
    ...{ model: 'claude-sonnet-5', max_tokens: 100, tools: [{ name: 'Read', input_schema: { type: 'object' } }] },
    messages: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [text, broken] }] },
    ],
  }
  const answer = await ask(simulate(), body)
  expect([answer.status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining('tool_result.content.1')])
})
