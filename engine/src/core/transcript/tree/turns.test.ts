import { expect, test } from 'vitest'
import { session, textBlock, toolUseBlock } from '../../../testing/index.ts'
import { createScanner } from './scan.ts'

function turnsOf(records: readonly { readonly [key: string]: unknown }[]) {
  const scanner = createScanner()
  for (const [line, record] of records.entries())
    scanner.add({ record, position: { line: line + 1, offset: line, length: 1, nth: 0 } })
  return scanner.finish().turns
}

const start = Date.parse('2026-03-02T09:00:00.000Z')

test('a turn ends with the context of its newest answer; tool results and sub-agents begin none', () => {
  const { records } = session({ startTime: '2026-03-02T09:00:00.000Z' })
    .user('one')
    .assistant([toolUseBlock('t1', 'Bash')], { tokens: { input: 100, output: 10 } })
    .toolResult('t1', 'done')
    .assistant([textBlock('first')], { tokens: { input: 300, output: 20 } })
    .user('two')
    .assistant([textBlock('second')], { tokens: { input: 400, cacheRead: 50, output: 30 } })
  const times = records
    .filter((record) => record.type === 'assistant')
    .map((record) => Date.parse(String(record.timestamp)))
  expect(times[0]).toBeGreaterThan(start)
  expect(turnsOf(records)).toEqual([
    { tokens: 320, time: times[1] },
    { tokens: 480, time: times[2] },
  ])
})

test('a prompt that was never answered is no turn', () => {
  const { records } = session()
    .user('one')
    .user('two')
    .assistant('yes', { tokens: { input: 7, output: 3 } })
    .user('three')
  expect(turnsOf(records).map(({ tokens }) => tokens)).toEqual([10])
})
