import { expect, test } from 'vitest'
import { createCapabilities, noCapabilities } from './capabilities.ts'

test('what the host says comes before what the provider said, and that before the catalog', () => {
  const catalog = () => ({ ...noCapabilities, window: 1, maxOutput: 1, promptCache: true })
  const book = createCapabilities({ catalog, set: { window: 3 } })
  expect(book.of('m')).toEqual({ ...noCapabilities, window: 3, maxOutput: 1, promptCache: true })
  expect(book.asked('m')).toBeUndefined()
  const known = { ...noCapabilities, window: 3, maxOutput: 2, promptCache: true }
  expect(book.learn('m', { window: 2, maxOutput: 2 })).toEqual(known)
  expect([book.of('m'), book.asked('m')]).toEqual([known, known])
  expect(book.of('another')).toEqual({ ...noCapabilities, window: 3, maxOutput: 1, promptCache: true })
})
