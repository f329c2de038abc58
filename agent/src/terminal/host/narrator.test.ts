import { text } from '@everlong/simulator'
import { expect, test } from 'vitest'
import { agentStages } from '../../testing/agent-stage.ts'
import { createNarrator } from './narrator.ts'
import type { UiEvent } from './protocol.ts'

const stage = agentStages()

test('at the end of a turn the size of the context is told first, so that nobody shows an old one', async () => {
  const { agent, folder } = await stage({ script: () => text('Here you are.') })
  const events: UiEvent[] = []
  const narrator = createNarrator(agent, { folder, send: (event) => events.push(event) })
  for (const words of ['Hi.', 'And now?']) {
    events.length = 0
    await agent.submit({ text: words })
    const { tokens } = agent.session().explain().size
    const busy = events.findIndex((event) => event.type === 'state' && event.state.isBusy)
    const idle = events.findIndex((event, at) => at > busy && event.type === 'state' && !event.state.isBusy)
    expect(busy).toBeGreaterThan(-1)
    expect(events.slice(0, idle).findLast(({ type }) => type === 'gauge')).toMatchObject({ gauge: { tokens } })
  }
  narrator.stop()
})

test('the end of a turn is told with its time and its price, each turn alone and with its sub-agents', async () => {
  const { agent, folder } = await stage({ script: () => text('Here you are.') })
  const events: UiEvent[] = []
  const narrator = createNarrator(agent, { folder, send: (event) => events.push(event) })
  await agent.submit({ text: 'Hi.' })
  await agent.submit({ text: 'And now?' })
  const done = events.flatMap((event) => (event.type === 'done' ? [event] : []))
  const spent = agent.session().spent().turn.cost ?? 0
  expect(done).toHaveLength(2)
  expect(spent).toBeGreaterThan(0)
  expect(done.reduce((sum, { cost = 0 }) => sum + cost, 0)).toBeCloseTo(spent, 10)
  expect(done.every(({ tookMs, cost = 0 }) => tookMs > 0 && cost > 0)).toBe(true)
  // It is told while the turn still counts as running, so that it is above the next prompt.
  expect(events.findIndex(({ type }) => type === 'done')).toBeLessThan(
    events.findIndex((event, at) => at > 2 && event.type === 'state' && !event.state.isBusy),
  )
  narrator.stop()
})
