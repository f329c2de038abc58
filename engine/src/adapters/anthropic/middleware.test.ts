import { expect, test } from 'vitest'
import { everlong } from '../../anthropic.ts'
import type { EngineEvent } from '../../core/ports/events.ts'
import { offline } from '../../models/offline.ts'

const first = { role: 'user', content: 'Hello.' }
const second = [first, { role: 'assistant', content: 'Hi.' }, { role: 'user', content: 'Go on.' }]

test('a request waits for the usage of the streamed answer before it, which is known when the stream has ended', async () => {
  const events: EngineEvent[] = []
  const { middleware: own } = everlong({
    model: offline(),
    environment: {},
    onEvent: (event) => void events.push(event),
  })
  let end: (() => void) | undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  async function* stream() {
    yield { type: 'message_start', message: { usage: { input_tokens: 4_000, output_tokens: 1 } } }
    await ended
    yield { type: 'message_delta', usage: { output_tokens: 7, input_tokens: null } }
  }
  const request = (messages: readonly object[]) =>
    ({
      ...{ url: 'https://api.test/v1/messages', method: 'POST', headers: {} },
      body: JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 9, stream: true, messages }),
    }) as never
  const context = { parse: async () => stream(), logger: console } as never
  let sent = 0
  const next = async () => {
    sent++
    return new Response('')
  }
  await own(request([first]), next, context)
  const again = own(request(second), next, context)
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toBe(1)
  end?.()
  await again
  const checked = events.filter((event) => event.type === 'threshold-checked').map(({ tokens }) => tokens)
  expect(checked.at(-1)).toBeGreaterThan(4_000)
})
