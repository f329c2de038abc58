import { expect, test } from 'vitest'
import { jsonlSessions } from './jsonl.ts'

test('a folder that is missing or given bare is named at once', () => {
  const why = "jsonlSessions() needs the folder of the sessions: jsonlSessions({ folder: 'sessions' })."
  expect(() => jsonlSessions('sessions' as never)).toThrow(why)
  expect(() => jsonlSessions({} as never)).toThrow(why)
})
