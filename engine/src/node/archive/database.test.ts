import { expect, test } from 'vitest'
import { inTransaction, openDatabase } from './database.ts'

test('a step that fails is rolled back, leaves no transaction open, and the next one works', () => {
  const sql = openDatabase(undefined)
  const count = () => sql.prepare('SELECT count(*) AS found FROM skipped').get()?.found
  const skip = () => sql.exec("INSERT INTO skipped (source, line, reason) VALUES (1, 1, 'x')")
  const failing = () =>
    inTransaction(sql, () => {
      skip()
      throw new Error('the disk is full')
    })
  expect(failing).toThrow('the disk is full')
  expect([sql.isTransaction, count()]).toEqual([false, 0])
  inTransaction(sql, skip)
  expect(count()).toBe(1)
  sql.close()
})
