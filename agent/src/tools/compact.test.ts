import { offline } from 'everlong'
import { createEngine, type Session } from 'everlong/node'
import { expect, test } from 'vitest'
import type { ToolContext } from '../tool.ts'
import { ownCompactTool } from './compact.ts'

const long = 'The gate opens at nine. '.repeat(6_000)
const settings = { sessionMemory: false } as const

const callFor = (session: Session) =>
  ownCompactTool().call({ reason: 'The search is done.' }, { session } as unknown as ToolContext)

test('a sub-agent asks for a compaction of its own conversation, not of the one that started it', async () => {
  const engine = createEngine({ model: offline(), environment: {}, settings })
  const session = await engine.start()
  session.add({ role: 'user', content: long })
  const sub = await session.subagent({})
  sub.add({ role: 'user', content: long })
  sub.record({ content: 'Found it.' })
  sub.add({ role: 'user', content: 'Where?' })
  expect(await callFor(sub)).toMatchObject({ content: expect.stringContaining('Before the next request a summary') })
  expect(session.tracking()).not.toHaveProperty('scheduled')
  expect(await sub.prepare()).toMatchObject({ compaction: { type: 'compacted' } })
  expect(await session.prepare()).not.toHaveProperty('compaction')
  await sub.close()
  await session.close()
})

test('a wrong input is answered with an error', async () => {
  const engine = createEngine({ model: offline(), environment: {}, settings })
  const session = await engine.start()
  expect(await ownCompactTool().call({}, { session } as unknown as ToolContext)).toMatchObject({ isError: true })
  await session.close()
})
