// The sessions of opencode, which keeps them in a database. Each is copied into a file of Everlong's cache, as `opencode export`
// prints it but on one line, so that whatever reads transcripts reads them. The database itself is only read.
import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type JsonObject, parseObject } from 'everlong/internal'
import { replaceFile, type Unreadable, whyUnreadable } from 'everlong/internal/node'

type SessionRow = {
  readonly id: string
  readonly directory: string
  readonly title: string
  readonly version: string
  readonly time_created: number
  readonly time_updated: number
}
type DataRow = { readonly id: string; readonly data: string }
type PartRow = DataRow & { readonly message_id: string }

/**
 * Brings the copies up to date: changed sessions are written again, copies of deleted ones are removed. Sessions of sub-agents are
 * left out. Returns what could not be read.
 */
export function copyOpencodeSessions(database: string, folder: string): readonly Unreadable[] {
  if (!existsSync(database)) {
    rmSync(folder, { recursive: true, force: true })
    return []
  }
  let sql: DatabaseSync | undefined
  try {
    sql = new (process.getBuiltinModule('node:sqlite').DatabaseSync)(database, { readOnly: true })
    const sessions = sql.prepare('SELECT * FROM session WHERE parent_id IS NULL').all() as SessionRow[]
    // An id is a file name here, so it may hold nothing else.
    const named = sessions
      .filter(({ id }) => /^\w+$/.test(id))
      .map((session) => ({ name: `${session.id}.jsonl`, session }))
    removeOthers(folder, new Set(named.map(({ name }) => name)))
    for (const { name, session } of named) copySession(sql, session, join(folder, name))
    return []
  } catch (error) {
    return [{ path: database, reason: whyUnreadable(error) }]
  } finally {
    sql?.close()
  }
}

function removeOthers(folder: string, names: ReadonlySet<string>): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) if (!names.has(name)) rmSync(join(folder, name), { force: true })
}

/** The copy has the time of the session's last change, by which sessions are listed and by which a later change is noticed. */
function copySession(sql: DatabaseSync, session: SessionRow, path: string): void {
  const { id, time_created: created, time_updated: updated, directory, title, version } = session
  const time = new Date(updated)
  if (statSync(path, { throwIfNoEntry: false })?.mtimeMs === time.getTime()) return
  const messages = sql
    .prepare('SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id')
    .all(id) as DataRow[]
  const parts = sql
    .prepare('SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id')
    .all(id) as PartRow[]
  const partsOf = Map.groupBy(parts, ({ message_id }) => message_id)
  const exported = {
    info: { id, directory, title, version, time: { created, updated } },
    messages: messages.map((message) => ({
      info: { ...dataOf(message), sessionID: id },
      parts: (partsOf.get(message.id) ?? []).map((part) => ({ ...dataOf(part), messageID: message.id, sessionID: id })),
    })),
  }
  replaceFile(path, Buffer.from(`${JSON.stringify(exported)}\n`), { flush: false })
  utimesSync(path, time, time)
}

function dataOf({ id, data }: DataRow): JsonObject {
  return { ...parseObject(data), id }
}
