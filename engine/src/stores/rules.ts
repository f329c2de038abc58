// What every store decides in the same way.
import type { Erasure, SessionInfo, StoredRecord } from '../core/ports/session-store.ts'

const dayMs = 86_400_000

/** Whether what follows the expected version starts with exactly these records: an earlier attempt got through. */
export function isAlreadyStored(following: readonly { readonly id: string }[], sent: readonly StoredRecord[]): boolean {
  return sent.length <= following.length && sent.every(({ id }, at) => following[at]?.id === id)
}

/** Whether an erasure is meant for this session. Retention spares sessions that somebody writes. */
export function selects(which: Erasure, { id, user, changed, isHeld }: SessionInfo, now: number): boolean {
  if ('sessions' in which) return which.sessions.includes(id)
  if ('user' in which) return user === which.user
  return !isHeld && Date.parse(changed) < now - which.unchangedForDays * dayMs
}
