// What the id of a session may be: one rule for every store, so that sessions can move between all of them. Ids become file
// names, so only plain ones are allowed.
import type { OpenOptions } from './session-store.ts'
import { StoreError } from './store.ts'

const plainName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/

/** In a folder, the session "x.jsonl" would have its own files where the session "x" has its transcript. */
export const transcriptName = /\.jsonl/i

const subagents = '/subagents/'

/** The sub-agent of a session has a session of its own. */
export function subagentId(session: string, name: string): string {
  return `${session}${subagents}${name}`
}

/** Throws a StoreError unless a new session may have this id. A copy keeps the id that it has in another store. */
export function checkNewSessionId(id: string, { parent, isCopy }: Pick<OpenOptions, 'parent' | 'isCopy'> = {}): void {
  if (isCopy) return
  const start = parent === undefined ? '' : subagentId(parent, '')
  const name = id.startsWith(start) ? id.slice(start.length) : ''
  if (plainName.test(name) && !transcriptName.test(name)) return
  const shown = JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}…` : id)
  const where = parent === undefined ? '' : ` after "${start.slice(0, 200)}"`
  throw new StoreError(
    `${shown} cannot be the id of a session. Use 1 to 128 letters, digits, ".", "_" and "-"${where}, with a letter or digit first and without ".jsonl".`,
    { reason: 'invalid' },
  )
}
