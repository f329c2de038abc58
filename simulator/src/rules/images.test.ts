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
