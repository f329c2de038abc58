// Rules for every store, our own and those of others.
import type { Erasure, ListOptions, SessionInfo } from '../core/ports/session-store.ts'

const dayMs = 86_400_000

/**
 * For an append whose expected version is not the current one: true if the ids after that version start with exactly these. Then
 * an earlier attempt succeeded, and the records count as stored.
 */
export function isAlreadyStored(following: readonly string[], sent: readonly string[]): boolean {
  return sent.length <= following.length && sent.every((id, at) => following[at] === id)
}

/** The sessions that `list()` returns. */
export function sessionsToList(
  all: readonly SessionInfo[],
  { user, after, limit = 1_000 }: ListOptions = {},
): readonly SessionInfo[] {
  return all
    .filter((info) => (user === undefined || info.user === user) && (after === undefined || info.id > after))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit)
}

/** The ids of the sessions that `erase()` removes, with those of their sub-agents. `now` in milliseconds since 1970. */
export function sessionsToErase(all: readonly SessionInfo[], which: Erasure, now: number): ReadonlySet<string> {
  const chosen = new Set(all.filter((info) => selects(which, info, now)).map(({ id }) => id))
  for (let before = -1; before < chosen.size; ) {
    before = chosen.size
    for (const { id, parent } of all) if (parent !== undefined && chosen.has(parent)) chosen.add(id)
  }
  return chosen
}

/** Retention spares sessions that a writer holds. */
function selects(which: Erasure, { id, user, changed, isHeld }: SessionInfo, now: number): boolean {
  if ('sessions' in which) return which.sessions.includes(id)
  if ('user' in which) return user === which.user
  return !isHeld && Date.parse(changed) < now - which.unchangedForDays * dayMs
}
