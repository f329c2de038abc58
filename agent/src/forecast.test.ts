import { text } from '@everlong/simulator'
import type { Session } from 'everlong/node'
import { expect, test } from 'vitest'
import { forecastOf } from './forecast.ts'
import { agentStages } from './testing/agent-stage.ts'
import { fill } from './testing/history.ts'

const stage = agentStages()

test('there is no forecast before the first compaction, and none that is far away afterwards', async () => {
  const { agent } = await stage({ script: () => text('Here you are. '.repeat(50)) })
  for (const words of ['One.', 'Two.', 'Three.']) await agent.submit({ text: words })
  expect(agent.session().explain().prediction).toBeDefined()
  expect(forecastOf(agent.session())).toBeUndefined()
  fill(agent.session(), { rounds: 6, tokens: 800 })
  await agent.command('/compact')
  for (const words of ['Four.', 'Five.', 'Six.']) await agent.submit({ text: words })
  expect(agent.session().explain().prediction?.turns).toBeGreaterThan(50)
  expect(forecastOf(agent.session())).toBeUndefined()
})

test('after a compaction it is that of the engine, up to 50 turns', () => {
  const prediction = (turns: number) => ({ turns, growth: 10 })
  const at = (turns: number, previous?: object) =>
    forecastOf({
      explain: () => ({ prediction: prediction(turns), autoCompact: { mode: 'auto' } }),
      tracking: () => ({ previous }),
    } as unknown as Session)
  expect([at(50), at(50, {}), at(51, {})]).toEqual([undefined, prediction(50), undefined])
})
