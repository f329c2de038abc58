import { afterEach, expect, test, vi } from 'vitest'
import { nextTurn } from './ports.ts'

afterEach(() => vi.unstubAllGlobals())

const scheduler = { yield: () => new Promise<void>((resolve) => void setTimeout(resolve, 0)) }

test.each([
  ['setImmediate', {}],
  ['scheduler.yield', { setImmediate: undefined, scheduler }],
  ['a message', { setImmediate: undefined, scheduler: undefined }],
  ['a timeout', { setImmediate: undefined, scheduler: undefined, MessageChannel: undefined }],
])('the next turn of the event loop comes with %s, after everything that is due now', async (_, globals) => {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
  const order: string[] = []
  const turn = nextTurn().then(() => order.push('turn'))
  for (let nth = 0; nth < 100; nth++) await Promise.resolve()
  order.push('due')
  await turn
  expect(order).toEqual(['due', 'turn'])
})
