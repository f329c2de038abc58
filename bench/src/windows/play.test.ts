import { expect, test } from 'vitest'
import { play } from './play.ts'

// The server refuses a prompt that does not fit together with its output limit, also one for a summary or for a shorter summary.
test('in a window of 8,000 tokens nothing is refused, and the rules stay', { timeout: 60_000 }, async () => {
  expect(await play(8_000)).toMatchObject({ refused: 0, rules: [4, 4], recalled: 40 })
})
