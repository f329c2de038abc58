import type { HookCall } from 'everlong'
import { expect, test } from 'vitest'
import { query } from '../loop.ts'
import { setStage } from '../testing/stage.ts'

test('the Stop hooks run once when the loop is finished, and not when it was cut short', async () => {
  const calls: HookCall['event'][] = []
  const hooks = {
    run: async (call: HookCall) => {
      calls.push(call.event)
      return { messages: call.event === 'Stop' ? ['Remember to push.'] : [] }
    },
  }
  const stage = await setStage({ turnsPerTask: 3, engine: { hooks } })
  const session = await stage.engine.start({ maxTokens: 1_000 })
  session.add({ role: 'user', content: 'Look around.' })
  for await (const _ of query({ session, tools: stage.tools, maxTurns: 1 }));
  expect(calls).toEqual(['SessionStart'])
  const notices: string[] = []
  for await (const event of query({ session, tools: stage.tools })) {
    if (event.type === 'notice') notices.push(event.text)
  }
  expect([calls, notices]).toEqual([['SessionStart', 'Stop'], ['Remember to push.']])
  await session.close()
  await stage.close()
})
