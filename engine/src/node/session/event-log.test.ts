import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { eventLog } from './event-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-events-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('each event is one line with its time, in a folder that is made when needed', () => {
  const path = join(folder, 'deep', 'events.jsonl')
  const emit = eventLog(path, { now: () => 0, sessionId: 's' })
  emit({ type: 'breaker-tripped', failures: 3 })
  emit({ type: 'memory-declined', reason: 'off' })
  expect(readFileSync(path, 'utf8')).toBe(
    '{"time":"1970-01-01T00:00:00.000Z","sessionId":"s","type":"breaker-tripped","failures":3}\n' +
      '{"time":"1970-01-01T00:00:00.000Z","sessionId":"s","type":"memory-declined","reason":"off"}\n',
  )
})

test('a log that cannot be written says so once and disturbs nobody', () => {
  const problems: string[] = []
  const emit = eventLog(folder, { onProblem: (problem) => problems.push(problem) })
  emit({ type: 'breaker-tripped', failures: 3 })
  emit({ type: 'breaker-tripped', failures: 3 })
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain('Cannot write the event log')
})
