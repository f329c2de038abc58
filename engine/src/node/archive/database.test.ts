import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { inTransaction, openDatabase } from './database.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-database-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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

/** The files of this process below the folder, as Linux lists them. */
function openFiles(): readonly string[] {
  const open = readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      return [readlinkSync(`/proc/self/fd/${number}`)]
    } catch {
      // The listing itself was one of them.
      return []
    }
  })
  return open.filter((path) => path.startsWith(folder))
}

test.runIf(process.platform === 'linux')(
  'a database of another version is closed before a new one takes its place',
  () => {
    const place = join(folder, 'old.db')
    const old = openDatabase(place)
    old.exec("INSERT INTO skipped (source, line, reason) VALUES (1, 1, 'x'); PRAGMA user_version = 999999")
    old.close()
    expect(openFiles()).toEqual([])
    const sql = openDatabase(place)
    expect(sql.prepare('SELECT count(*) AS found FROM skipped').get()?.found).toBe(0)
    expect(openFiles().filter((path) => path.endsWith('(deleted)'))).toEqual([])
    sql.close()
    expect(openFiles()).toEqual([])
  },
)
