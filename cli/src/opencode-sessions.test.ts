import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { arrayAt, isObject, type JsonObject, objectAt } from 'everlong/internal'
import { generateTalk } from 'everlong/internal/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { copyOpencodeSessions } from './opencode-sessions.ts'
import { everlong } from './testing/harness.ts'

let home: string
let path: string
let folder: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'everlong-opencode-'))
  path = join(home, '.local/share/opencode/opencode.db')
  folder = join(home, 'cache/opencode')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** The tables of opencode 1.18, with the columns that are read. */
const schema = `
  CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL);
  CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
  CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL);
`

function withDatabase(use: (sql: DatabaseSync) => void): void {
  mkdirSync(dirname(path), { recursive: true })
  const sql = new DatabaseSync(path)
  try {
    use(sql)
  } finally {
    sql.close()
  }
}

type Added = { readonly id: string; readonly parent?: string; readonly updated?: number }

const talk = (seed = 1) =>
  generateTalk({ format: 'opencode', seed, turns: 6, compactions: 1 }).records[0] as JsonObject & {
    messages: JsonObject[]
  }

function add(sql: DatabaseSync, { id, parent, updated = 1_000_000 }: Added, messages: readonly unknown[] = []): void {
  const row = sql.prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)')
  row.run(id, parent ?? null, '/work', 'A title', '1.18.33', 5, updated)
  for (const [time, message] of messages.entries()) {
    const { id: messageId, sessionID, ...data } = objectAt(message, 'info') as JsonObject & { id: string }
    sql.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run(messageId, id, time, JSON.stringify(data))
    for (const [at, part] of arrayAt(message, 'parts').filter(isObject).entries()) {
      const partId = `prt_${messageId}_${String(at).padStart(4, '0')}`
      sql.prepare('INSERT INTO part VALUES (?, ?, ?, ?)').run(partId, messageId, id, JSON.stringify(part))
    }
  }
}

const copy = () => copyOpencodeSessions(path, folder)
const copied = (id: string) => JSON.parse(readFileSync(join(folder, `${id}.jsonl`), 'utf8'))

test('a session is copied on one line, with all messages and parts in their order', () => {
  const { messages } = talk()
  withDatabase((sql) => {
    sql.exec(schema)
    add(sql, { id: 'ses_1' }, messages)
    add(sql, { id: 'ses_2' }, talk(2).messages)
  })
  expect(copy()).toEqual([])
  const { info, messages: found } = copied('ses_1')
  expect(info).toEqual({
    id: 'ses_1',
    directory: '/work',
    title: 'A title',
    version: '1.18.33',
    time: { created: 5, updated: 1_000_000 },
  })
  expect(found).toMatchObject(
    messages.map((message) => ({ info: { ...objectAt(message, 'info'), sessionID: 'ses_1' }, parts: message.parts })),
  )
  expect(readFileSync(join(folder, 'ses_1.jsonl'), 'utf8').match(/\n/g)).toHaveLength(1)
})

test('what changed is copied again, what did not stays, and what opencode deleted is removed', () => {
  withDatabase((sql) => {
    sql.exec(schema)
    for (const id of ['ses_same', 'ses_changed', 'ses_deleted']) add(sql, { id })
  })
  copy()
  const same = statSync(join(folder, 'ses_same.jsonl')).ino
  const changed = statSync(join(folder, 'ses_changed.jsonl')).ino
  withDatabase((sql) => {
    sql.exec("UPDATE session SET title = 'Another', time_updated = 1000001 WHERE id = 'ses_changed'")
    sql.exec("DELETE FROM session WHERE id = 'ses_deleted'")
  })
  copy()
  expect(readdirSync(folder).toSorted()).toEqual(['ses_changed.jsonl', 'ses_same.jsonl'])
  expect(statSync(join(folder, 'ses_same.jsonl')).ino).toBe(same)
  expect(statSync(join(folder, 'ses_changed.jsonl')).ino).not.toBe(changed)
  expect(copied('ses_changed').info.title).toBe('Another')
  rmSync(path)
  expect(copy()).toEqual([])
  expect(existsSync(folder)).toBe(false)
})

test('only the user can read a copy', () => {
  withDatabase((sql) => {
    sql.exec(schema)
    add(sql, { id: 'ses_1' })
  })
  copy()
  expect([statSync(folder).mode & 0o777, statSync(join(folder, 'ses_1.jsonl')).mode & 0o777]).toEqual([0o700, 0o600])
})

test('sessions of sub-agents, and ids that are no file names, are left out', () => {
  withDatabase((sql) => {
    sql.exec(schema)
    add(sql, { id: 'ses_1' })
    add(sql, { id: 'ses_child', parent: 'ses_1' })
    add(sql, { id: '../outside' })
  })
  expect(copy()).toEqual([])
  expect(readdirSync(dirname(folder))).toEqual(['opencode'])
  expect(readdirSync(folder)).toEqual(['ses_1.jsonl'])
})

test('data that is no JSON costs only itself', () => {
  withDatabase((sql) => {
    sql.exec(schema)
    add(sql, { id: 'ses_1' }, talk().messages)
    sql.exec("UPDATE message SET data = '{broken' WHERE id = (SELECT min(id) FROM message)")
  })
  expect(copy()).toEqual([])
  expect(copied('ses_1').messages).toHaveLength(talk().messages.length)
})

test.for([
  ['no database', (place: string) => writeFileSync(place, 'this is no database, but text that is long enough')],
  ['other tables', (place: string) => new DatabaseSync(place).exec('CREATE TABLE other (id text)')],
] as const)('%s: lost and view say so, and lost still reads the sessions of other agents', async ([, make]) => {
  mkdirSync(dirname(path), { recursive: true })
  make(path)
  for (const command of ['lost', 'view']) {
    const alone = await run(command)
    expect([alone.exitCode, alone.stdout]).toEqual([1, ''])
    expect(alone.stderr).toContain(`${path} cannot be read: `)
  }
  mkdirSync(join(home, '.claude/projects/p'), { recursive: true })
  const record = {
    type: 'user',
    uuid: 'u',
    parentUuid: null,
    sessionId: 's',
    timestamp: '2026-01-01T00:00:00Z',
    message: { role: 'user', content: 'Hi' },
  }
  writeFileSync(join(home, '.claude/projects/p/a.jsonl'), `${JSON.stringify(record)}\n`)
  const both = await lost()
  expect(both.exitCode).toBe(1)
  expect(JSON.parse((await lost('--json')).stdout)).toMatchObject({ found: 1, unreadable: [{ path }] })
})

const lost = (...words: readonly string[]) => run('lost', ...words)
const run = (...words: readonly string[]) =>
  everlong(words, { env: { HOME: home, NO_COLOR: '1', EVERLONG_CACHE_DIR: join(home, 'cache') } })

test('lost reads the sessions of opencode without a path', async () => {
  withDatabase((sql) => {
    sql.exec(schema)
    add(sql, { id: 'ses_1' }, talk().messages)
  })
  const { sessions } = JSON.parse((await lost('--json')).stdout)
  expect(sessions).toMatchObject([{ path: join(folder, 'ses_1.jsonl'), compactions: [{ number: 1 }] }])
})
