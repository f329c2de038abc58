// A store may be the host's own code. These calls check the shape of what it returns, so that a mistake there is a clear
// error and not a crash somewhere else.
import { describeValue, isObject } from '../message/json.ts'
import type { Appended, HeldSession, OpenOptions, OpenResult, SessionStore, StoredRecord } from './session-store.ts'
import { StoreError } from './store.ts'

/** Throws a StoreError if the result has the wrong shape. */
export async function openIn(store: Pick<SessionStore, 'open'>, id: string, options: OpenOptions): Promise<OpenResult> {
  const result: unknown = await store.open(id, options)
  if (isOpenResult(result)) return result
  throw new StoreError(
    `open() of the session store returned ${shapeOf(result)}. It must return { type } with "opened" and a session, "missing", "exists" or "held".`,
    { reason: 'invalid' },
  )
}

export async function appendTo(
  session: HeldSession,
  records: readonly StoredRecord[],
  expected: number,
): Promise<Appended> {
  const result: unknown = await session.append(records, expected)
  if (isAppended(result)) return result
  const why = `append() of the session store returned ${shapeOf(result)}. It must return { type } with "stored" and a version, or "refused" or "unavailable" and why.`
  return { type: 'refused', why, reason: 'invalid' }
}

function isOpenResult(value: unknown): value is OpenResult {
  if (!isObject(value)) return false
  const { type, session, by, why } = value
  if (type === 'opened') return isHeldSession(session)
  if (type === 'held') return typeof by === 'string' && typeof why === 'string'
  return type === 'missing' || type === 'exists'
}

const calls = ['append', 'all', 'recall', 'read', 'release'] as const

function isHeldSession(value: unknown): value is HeldSession {
  if (!isObject(value)) return false
  const { version, entries, isWhole } = value
  const hasCalls = calls.every((name) => typeof value[name] === 'function')
  return hasCalls && typeof version === 'number' && Array.isArray(entries) && typeof isWhole === 'boolean'
}

function isAppended(value: unknown): value is Appended {
  if (!isObject(value)) return false
  const { type, version, why } = value
  if (type === 'stored') return typeof version === 'number'
  return (type === 'refused' || type === 'unavailable') && typeof why === 'string'
}

function shapeOf(value: unknown): string {
  return isObject(value)
    ? `an object with ${Object.keys(value).slice(0, 10).join(', ') || 'no fields'}`
    : describeValue(value)
}
