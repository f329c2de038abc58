// Previously typed lines of all sessions: a file with one JSON string per line, newest last.

import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../../reason-of.ts'

const most = 500

export type History = {
  readonly entries: () => readonly string[]
  readonly add: (text: string) => void
}

/** Without a path, only this run is remembered. An unreadable or unwritable file is not fatal. */
export function createHistory(path: string | undefined, onTrouble: (why: string) => void = () => undefined): History {
  let entries = path === undefined ? [] : read(path, onTrouble)
  return {
    entries: () => entries,
    add: (text) => {
      if (text.trim() === '' || entries.at(-1) === text) return
      entries = [...entries, text].slice(-most)
      if (path === undefined) return
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        // Lines are short, so two programs that append at the same time do not mix them.
        appendFileSync(path, `${JSON.stringify(text)}\n`, { mode: 0o600 })
      } catch (error) {
        onTrouble(`The history cannot be saved: ${reasonOf(error)}`)
      }
    },
  }
}

function read(path: string, onTrouble: (why: string) => void): readonly string[] {
  try {
    if (!existsSync(path)) return []
    const lines = readFileSync(path, 'utf8').split('\n')
    const entries = lines.flatMap(decoded).slice(-most)
    if (lines.length > 2 * most) shorten(path, entries)
    return entries
  } catch (error) {
    onTrouble(`The history cannot be read: ${reasonOf(error)}`)
    return []
  }
}

function shorten(path: string, entries: readonly string[]): void {
  const fresh = `${path}.${process.pid}`
  writeFileSync(fresh, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 })
  renameSync(fresh, path)
}

function decoded(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? [value] : []
  } catch {
    // An incomplete line after a crash.
    return []
  }
}
