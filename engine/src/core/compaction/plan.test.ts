import { expect, test } from 'vitest'
import { offline } from '../../models/offline.ts'
import { session } from '../../testing/index.ts'
import { noPosition } from '../ports/session-store.ts'
import { foldEntries } from '../transcript/view/fold.ts'
import { handoverIn, planCompaction } from './plan.ts'

test('the handover has 12,000 tokens in a window of 200,000, 6 % of a larger one, and at most 15 % of a smaller one', () => {
  const sizes = [8_000, 64_000, 79_999, 80_000, 128_000, 200_000, 400_000, 1_000_000]
  expect(sizes.map(handoverIn)).toEqual([1_200, 9_600, 11_999, 12_000, 12_000, 12_000, 24_000, 60_000])
})

test('the handover is measured by the window of the session, not by that of the model that summarizes', () => {
  const talk = session()
  for (let at = 0; at < 8; at++) talk.user(`Question ${at}? ${'Please look. '.repeat(400)}`).assistant('Done.')
  const view = foldEntries(talk.records.map((record) => ({ record, position: noPosition })))
  const job = { trigger: 'manual', reason: 'test', view, threshold: 100_000, sessionId: 's' } as const
  const handover = (more: object) => {
    const plan = planCompaction({ ...job, ...more }, offline())
    return plan.type === 'planned' ? plan.tokens.handover : plan
  }
  expect(handover({ sessionWindow: 400_000, contextWindow: 64_000 })).toBe(24_000)
  expect(handover({ contextWindow: 64_000 })).toBe(9_600)
})
