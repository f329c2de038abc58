import { expect, test } from 'vitest'
import { ChatAccumulator } from './openai/accumulate.ts'
import { readStream } from './stream.ts'

const chunk = (content: string, finish_reason: string | null = null) => ({
  id: 'x',
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason }],
})

const read = (events: () => AsyncGenerator<unknown>) =>
  readStream(async () => events(), {
    signal: new AbortController().signal,
    ports: { now: () => 0, wait: async () => undefined, random: () => 0 },
    endpoint: 'https://api.example',
    accumulator: new ChatAccumulator(),
  })

test('a connection that breaks after the end of an answer costs nothing; before it, the answer is lost', async () => {
  const broken = (last: 'stop' | null) =>
    async function* () {
      yield chunk('Done')
      yield chunk('.', last)
      throw new Error('socket hang up')
    }
  expect(await read(broken('stop'))).toMatchObject({ type: 'answer', content: [{ type: 'text', text: 'Done.' }] })
  expect(await read(broken(null))).toEqual({ type: 'try-failed', reason: 'transient', message: 'socket hang up' })
})
