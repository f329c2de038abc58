import { text } from '@everlong/simulator'
import { expect, test } from 'vitest'
import { prose } from '../testing/history.ts'
import { setStage } from '../testing/stage.ts'

test('the Messages API counts a history that no answer has counted, and the estimate comes closer to its count', async () => {
  const stage = await setStage({ script: () => text('Here you are.') })
  const session = await stage.engine.start({ system: 'You are brief.', maxTokens: 1_000 })
  session.add({ role: 'user', content: prose(8_000, 1) })
  session.record({ content: 'I see.' })
  session.add({ role: 'user', content: 'What does it say?' })
  const request = await session.prepare()
  const guessed = session.explain().size
  const counts = () => stage.simulator.log.entries.filter(({ endpoint }) => endpoint.endsWith('/count_tokens'))
  const prepared = async () => {
    await session.prepare()
    return session.explain().size.tokens
  }
  await expect.poll(prepared).not.toBe(guessed.tokens)
  expect(counts()).toMatchObject([{ status: 200 }])
  const seeded = session.explain().size
  if (request.type !== 'ready') throw new Error(request.why)
  const answered = await session.send()
  if (answered.type !== 'answered') throw new Error(answered.type)
  const { input, cacheRead, cacheWrite } = answered.answer.usage
  const reported = input + cacheRead + cacheWrite
  const distance = ({ tokens }: { readonly tokens: number }) => Math.abs((tokens * 3) / 4 / reported - 1)
  expect([guessed.source, seeded.source]).toEqual(['estimate', 'estimate'])
  expect(distance(seeded)).toBeLessThan(0.01)
  expect(distance(seeded)).toBeLessThan(distance(guessed))
  expect(counts()).toHaveLength(1)
  await stage.close()
})
