import { text } from '@everlong/simulator'
import type { Session } from 'everlong/node'
import { expect, test } from 'vitest'
import { forecastOf } from './forecast.ts'
import { agentStages } from './testing/agent-stage.ts'
import { fill } from './testing/history.ts'

const stage = agentStages()

test('there is no forecast before the first compaction, and afterwards that of the engine', async () => {
  const { agent } = await stage({ script: () => text('Here you are. '.repeat(50)) })
  for (const words of ['One.', 'Two.', 'Three.']) await agent.submit({ text: words })
  expect(agent.session().explain().prediction).toBeDefined()
  expect(forecastOf(agent.session())).toBeUndefined()
  fill(agent.session(), { rounds: 6, tokens: 800 })
  await agent.command('/compact')
  for (const words of ['Four.', 'Five.', 'Six.']) await agent.submit({ text: words })
  expect(forecastOf(agent.session())).toEqual(agent.session().explain().prediction)
})

test('there is none of more than 50 turns', () => {
  const at = (turns: number) => {
    const prediction = { turns, growth: 10 }
    const session = {
      explain: () => ({ prediction, autoCompact: { mode: 'auto' } }),
      tracking: () => ({ previous: {} }),
    }
    return forecastOf(session as unknown as Session)?.turns
  }
  expect([at(50), at(51), at(5_387)]).toEqual([50, undefined, undefined])
})
