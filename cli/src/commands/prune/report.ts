// `everlong prune`: shows sessions that have not changed for a long time, asks, and erases them with all their files. Nothing
// else in Everlong deletes a session.
import { count, counted, dateTime, visible } from '@everlong/agent/render'
import { StoreError } from 'everlong'
import type { SessionInfo, SessionStore } from 'everlong/stores'
import { confirm } from '../../confirm.ts'
import type { Io } from '../../io.ts'
import { failed, gathered, type Outcome } from '../../outcome.ts'
import { foldedFor, heading, paragraph, type Screen, screenOf } from '../../render/screen.ts'
import { checkedPlace, placeOf } from '../../stores.ts'

export type PruneOptions = { readonly days: number; readonly yes?: boolean; readonly json?: boolean }

type Asked = PruneOptions & { readonly io: Io }

export type PruneReport = {
  readonly path: string
  readonly days: number
  /** Number of sessions checked. */
  readonly all: number
  /** Sessions to remove, oldest first. A session stays if its sub-agents were used since. */
  readonly sessions: readonly { readonly id: string; readonly changed: string; readonly user?: string }[]
  /** `not-asked`: there is no terminal to ask on, and --yes is missing. */
  readonly state: 'removed' | 'refused' | 'not-asked' | 'nothing-to-do'
  readonly removed: number
}

export async function gather(path: string, options: Asked): Promise<Outcome<PruneReport>> {
  const checked = checkedPlace(path)
  if (checked.type === 'failed') return checked
  const place = placeOf(path)
  try {
    return await prune(place.store, { name: place.name, session: place.session }, options)
  } catch (error) {
    if (error instanceof StoreError) return failed(visible(error.message))
    throw error
  } finally {
    await place.store.close()
  }
}

type Named = { readonly name: string; readonly session: string | undefined }

async function prune(store: SessionStore, { name, session }: Named, options: Asked): Promise<Outcome<PruneReport>> {
  const { days, yes = false, json = false, io } = options
  const all = await everySession(store)
  const isMeant = ({ id }: SessionInfo) => session === undefined || id === session
  const unused = unusedFor(all, io.now() - days * dayMs).filter(isMeant)
  const sessions = unused.map(({ id, changed, user }) => ({ id, changed, ...(user === undefined ? {} : { user }) }))
  const found = { path: name, days, all: all.filter(isMeant).length, sessions }
  if (sessions.length === 0) return gathered({ ...found, state: 'nothing-to-do', removed: 0 })

  const lines = planLines(found, screenOf(io))
  if (!yes && !json) io.stdout.write(`${foldedFor(io, lines).join('\n')}\n\n`)
  const answer = yes ? 'yes' : await confirm(`Remove ${counted(sessions.length, 'session')}?`, io)
  if (answer === 'no') return gathered({ ...found, state: 'refused', removed: 0 })
  if (answer === 'cannot-ask') {
    const complaint = 'nothing was removed: there is no terminal to ask on. Add --yes to remove them.'
    return { type: 'gathered', report: { ...found, state: 'not-asked', removed: 0 }, exitCode: 1, complaint }
  }
  return gathered({ ...found, state: 'removed', removed: await erase(store, unused) })
}

const dayMs = 86_400_000

async function everySession(store: SessionStore): Promise<readonly SessionInfo[]> {
  const all: SessionInfo[] = []
  for (;;) {
    const after = all.at(-1)?.id
    const next = await store.list(after === undefined ? {} : { after })
    if (next.length === 0) return all
    all.push(...next)
  }
}

/** Unchanged since then, and without a writer. Erasing a session erases its sub-agents, so these must be unused too. */
function unusedFor(all: readonly SessionInfo[], since: number): readonly SessionInfo[] {
  const isUsed = ({ changed, isHeld }: SessionInfo) => isHeld || !(Date.parse(changed) < since)
  const used = new Set(all.filter(isUsed).map(({ id }) => id))
  for (let before = -1; before < used.size; ) {
    before = used.size
    for (const { id, parent } of all) if (parent !== undefined && used.has(id)) used.add(parent)
  }
  return all.filter(({ id }) => !used.has(id)).toSorted((one, other) => (one.changed < other.changed ? -1 : 1))
}

/** Spares sessions that were used after they were shown. */
async function erase(store: SessionStore, shown: readonly SessionInfo[]): Promise<number> {
  const now = new Map((await everySession(store)).map((info) => [info.id, info]))
  const isSame = ({ id, changed }: SessionInfo) => now.get(id)?.changed === changed && now.get(id)?.isHeld === false
  const sessions = shown.filter(isSame).map(({ id }) => id)
  return store.erase({ sessions })
}

/** Lines of a screen; --json lists all of them. */
const maxShown = 20

function planLines({ path, days, sessions }: Pick<PruneReport, 'path' | 'days' | 'sessions'>, screen: Screen) {
  const rest = sessions.length - maxShown
  return [
    heading(`${counted(sessions.length, 'session')} of ${visible(path)} unchanged for ${counted(days, 'day')}`, screen),
    ...sessions
      .slice(0, maxShown)
      .flatMap(({ id, changed }) =>
        paragraph(`${dateTime(Date.parse(changed), screen.timeZone)}  ${visible(id)}`, screen),
      ),
    ...(rest > 0 ? paragraph(`… and ${count(rest)} more. --json lists all of them.`, screen) : []),
  ]
}

export function render(report: PruneReport, screen: Screen): readonly string[] {
  const { state, days, all, removed, sessions, path } = report
  if (state === 'nothing-to-do')
    return paragraph(
      `Nothing to remove: ${counted(all, 'session')} at ${visible(path)}, none unchanged for ${counted(days, 'day')}.`,
      screen,
    )
  if (state === 'refused') return paragraph('Nothing was removed.', screen)
  if (state === 'not-asked') return []
  const kept = sessions.length - removed
  return [
    heading(`Removed ${counted(removed, 'session')} of ${visible(path)}`, screen),
    ...(kept > 0
      ? paragraph(`${counted(kept, 'session')} stayed: somebody has used them in the meantime.`, screen)
      : []),
  ]
}
