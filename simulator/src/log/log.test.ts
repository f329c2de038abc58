// One line for each request, readable by people and by tests.
import { expect, test } from 'vitest'
import { ask, simulate } from '../testing/ask.ts'
import { shapeOf } from './log.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const use = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} })
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })

test('every request leaves a line: shape, tokens, cost, outcome', async () => {
  const simulator = simulate()
  const body = {
    model: 'claude-opus-5',
    max_tokens: 100,
    system: 'Be brief.',
    tools: [{ name: 'read', input_schema: { type: 'object' } }],
    messages: [user('a'), assistant([use('t1'), use('t2')]), user([result('t1'), result('t2')])],
  }
  await ask(simulator, body)
  await ask(simulator, { ...body, messages: [] })
  await ask(simulator, { ...body, max_tokens: undefined }, { path: '/v1/messages/count_tokens' })
  const lines = [
    '#1 200 /v1/messages claude-opus-5 [sys tools1 | u a(t2) u(r2)] prompt=408 read=0 written=0 in=408 out=2 $0.0021 end_turn',
    '#2 400 /v1/messages claude-opus-5 [] messages: at least one message is required',
    '#3 200 /v1/messages/count_tokens claude-opus-5 [sys tools1 | u a(t2) u(r2)] counted',
  ]
  expect(simulator.log.entries.map(({ line }) => line)).toEqual(lines)
  const page = await simulator.fetch('http://simulator/_everlong/log')
  expect(await page.text()).toBe(`${lines.join('\n')}\n`)
})

test('a long conversation is a short line', () => {
  const rounds = Array.from({ length: 40 }, (_, at) => [
    { role: 'assistant' as const, content: [use(`t${at}`)] },
    { role: 'user' as const, content: [result(`t${at}`)] },
  ]).flat()
  expect(shapeOf({ system: 0, tools: 0, messages: [{ role: 'user', content: [] }, ...rounds] })).toBe(
    'u {a(t1) u(r1)}×40',
  )
})

test('rounds are folded from the third repetition on', () => {
  const round = (at: number) => [assistant([use(`t${at}`)]), user([result(`t${at}`)])]
  const shape = (rounds: number) => {
    const messages = [user('a'), ...Array.from({ length: rounds }, (_, at) => round(at)).flat(), assistant('b')]
    return shapeOf({ system: 0, tools: 0, messages } as Parameters<typeof shapeOf>[0])
  }
  expect([1, 2, 3, 4].map(shape)).toEqual([
    'u a(t1) u(r1) a',
    'u a(t1) u(r1) a(t1) u(r1) a',
    'u {a(t1) u(r1)}×3 a',
    'u {a(t1) u(r1)}×4 a',
  ])
})

test('the log forgets its oldest lines', async () => {
  const simulator = simulate({ logEntries: 2 })
  for (let at = 0; at < 3; at++) await ask(simulator, {})
  expect(simulator.log.entries.map(({ number }) => number)).toEqual([2, 3])
})
