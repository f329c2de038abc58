// The contract of every session store, ours or your own, as a test helper. It opens, appends, races and erases, and returns the
// broken promises.
import type { JsonObject } from '../../core/message/json.ts'
import {
  type Appended,
  type HeldSession,
  noPosition,
  type OpenOptions,
  type SessionStore,
  type StoredRecord,
  StoreError,
  type StoreErrorReason,
} from '../../core/ports/session-store.ts'
import { foldEntries } from '../../core/transcript/view/fold.ts'
import { keptLayouts } from '../sessions/options.ts'
import { generateSession } from '../sessions/session.ts'
import { hostileIds, oddRecords, toolTalk } from './records.ts'

export type StoreContractInput = {
  /** Must be empty. */
  readonly store: SessionStore
  /** The same sessions from another process. Default: the store itself. */
  readonly other?: SessionStore
  /** Waits until the lease of an inactive writer has ended. Without it, takeovers are not checked. */
  readonly expire?: () => Promise<void>
}

export type StoreContractReport = {
  /** As sentences. Empty if the contract is kept. */
  readonly broken: readonly string[]
}

export type Must = (isKept: boolean, promise: string) => void

type Bench = Required<Omit<StoreContractInput, 'expire'>> & Pick<StoreContractInput, 'expire'> & { readonly must: Must }

export async function runStoreContract(input: StoreContractInput): Promise<StoreContractReport> {
  const broken: string[] = []
  const must: Must = (isKept, promise) => {
    if (!isKept) broken.push(promise)
  }
  const bench = { other: input.store, ...input, must }
  const checks = [
    checkOpening,
    checkIds,
    checkRecords,
    checkKept,
    checkVersions,
    checkRepeatedIds,
    checkWindows,
    checkRecall,
    checkTakeover,
    checkErasing,
    checkFamilies,
  ]
  for (const check of checks) {
    try {
      await check(bench)
    } catch (error) {
      must(false, `${check.name} goes through without an exception: ${String(error)}`)
    }
  }
  return { broken }
}

async function checkOpening({ store, other, must }: Bench): Promise<void> {
  must((await store.open('opening', { as: 'existing' })).type === 'missing', 'a session that is not there is missing')
  const session = await opened(store, 'opening', { as: 'new', owner: 'worker 1' })
  must(same(session.entries, []), 'a new session has no entries')
  const again = await other.open('opening', { as: 'existing', owner: 'worker 2' })
  must(again.type === 'held' && again.by === 'worker 1', 'a second writer is told who holds the session')
  must(again.type === 'held' && again.why.includes('worker 1'), 'and why it cannot have it, in words')
  await session.append([said('o1')], session.version)
  await session.release()
  must((await store.open('opening', { as: 'new' })).type === 'exists', 'no session is started twice')
  const tries = Array.from({ length: 6 }, (_, at) => (at % 2 === 0 ? store : other).open('opening', { as: 'existing' }))
  const results = await Promise.all(tries)
  const winners = results.flatMap((result) => (result.type === 'opened' ? [result.session] : []))
  must(winners.length === 1, `of six that open a session at once, one gets it, not ${winners.length}`)
  for (const winner of winners) await winner.release()
  const late = await session.append([said('o2')], session.version)
  must(isRefused(late, 'closed'), 'a writer that released the session cannot write, and the reason is "closed"')
  must(same(await idsIn(other, 'opening'), ['o1']), 'and nothing of it is stored')
}

/** `checkNewSessionId` of everlong/stores is the rule. */
async function checkIds({ store, must }: Bench): Promise<void> {
  const before = ids(await store.list())
  for (const id of hostileIds) {
    const shown = JSON.stringify(id.slice(0, 40))
    const refusal = await store.open(id, { as: 'new' }).then(
      () => undefined,
      (error: unknown) => error,
    )
    must(refusal instanceof StoreError && refusal.reason === 'invalid', `${shown} is refused as an invalid id`)
    must((await store.open(id, { as: 'existing' })).type === 'missing', `there is no session ${shown}`)
    must(same(await recordsIn(store, id), []), `nor are there records of ${shown}`)
    must((await store.erase({ sessions: [id] })) === 0, `nor is anything erased with ${shown}`)
  }
  must((await store.erase({ user: 'nobody\u0000' })) === 0, 'a user that nobody can be has nothing to erase')
  must(same(await store.list({ user: 'nobody\u0000' }), []), 'nor to list')
  const stranger = await store.open('ids/subagents/agent-1', { as: 'new', parent: 'others' }).catch(() => undefined)
  must(stranger === undefined, 'a sub-agent has the id of its own session')
  must(same(ids(await store.list()), before), 'and none of them is there')
}

async function checkRepeatedIds({ store, other, must }: Bench): Promise<void> {
  const session = await opened(store, 'repeated', { as: 'new' })
  const first = await session.append([said('a'), said('b')], session.version)
  must(first.type === 'stored', 'two records are stored')
  if (first.type !== 'stored') return
  const later = await session.append([said('c'), said('a')], first.version)
  must(isRefused(later, 'invalid'), 'an id that the session has is refused, and the reason is "invalid"')
  const twice = await session.append([said('d'), said('d')], first.version)
  must(isRefused(twice, 'invalid'), 'and so is one that comes twice at once')
  await session.release()
  const again = await opened(other, 'repeated', { as: 'existing' })
  must(isRefused(await again.append([said('b')], again.version), 'invalid'), 'and one that another writer stored')
  must((await again.append([said('e')], again.version)).type === 'stored', 'and then the session can still be written')
  await again.release()
  must(same(await idsIn(store, 'repeated'), ['a', 'b', 'e']), 'and nothing of what was refused is stored')
}

async function checkRecords({ store, other, must }: Bench): Promise<void> {
  const session = await opened(store, 'records', { as: 'new' })
  const records = oddRecords()
  const sent = records.map((record, at) => ({ id: idOf(record, at), record }))
  const appended = await session.append(sent, session.version)
  must(appended.type === 'stored', `unusual but valid records are stored: ${JSON.stringify(appended)}`)
  await session.release()
  const back = await recordsIn(other, 'records')
  for (const [at, record] of records.entries()) {
    must(same(back[at], record), `record ${at} comes back as it was: ${JSON.stringify(record).slice(0, 80)}`)
  }
  must(back.length === records.length, 'there are as many records as were stored')
  must(same(await recordsIn(store, 'nobody'), []), 'a session that is not there has no records')
}

/** Changes that the host makes later do not affect stored records. */
async function checkKept({ store, other, must }: Bench): Promise<void> {
  const session = await opened(store, 'kept', { as: 'new', user: 'carl' })
  const message = { role: 'user', content: 'as it was stored' }
  await session.append([{ id: 'k1', record: { type: 'user', uuid: 'k1', message } }], session.version)
  message.content = 'changed later'
  const [record] = await recordsIn(other, 'kept')
  must(same(record?.message, { role: 'user', content: 'as it was stored' }), 'a record is stored as it was passed in')
  await session.release()
  const again = await opened(other, 'kept', { as: 'existing', user: 'dora' })
  await again.release()
  must(same(ids(await store.list({ user: 'carl' })), ['kept']), 'a session keeps its user, whoever opens it')
  must(same(ids(await store.list({ user: 'dora' })), []), 'and gets no other')
}

async function checkVersions({ store, other, must }: Bench): Promise<void> {
  const session = await opened(store, 'versions', { as: 'new' })
  const first = await session.append([said('v1'), said('v2')], session.version)
  const version = first.type === 'stored' ? first.version : Number.NaN
  must(version > session.version, 'the version grows with an append')
  const retried = await session.append([said('v1'), said('v2')], session.version)
  must(same(retried, first), 'a retry with the same ids returns what the first attempt did')
  const stale = await session.append([said('v3')], session.version)
  must(stale.type === 'refused' && stale.why !== '', 'other records for an old version are refused with a reason')
  const next = await session.append([said('v3')], version)
  must(next.type === 'stored', 'the current version is accepted')
  const late = await session.append([said('v1'), said('v2')], session.version)
  must(same(late, first), 'a retry is recognized even if more was stored since')
  must(same(await idsIn(other, 'versions'), ['v1', 'v2', 'v3']), 'every record is stored once and in order')
  await session.release()
}

/** A store may read less than everything if the view is the same. */
async function checkWindows({ store, other, must }: Bench): Promise<void> {
  for (const [at, kept] of keptLayouts.entries()) {
    const id = `window-${kept}`
    const records = [...generateSession({ seed: 11 + at, turns: 24, boundaries: 3, kept, subagents: 'inline' })]
    const session = await opened(store, id, { as: 'new', isCopy: true })
    await session.append(
      records.map((record, nth) => ({ id: idOf(record, nth), record })),
      session.version,
    )
    await session.release()
    const again = await opened(other, id, { as: 'existing' })
    const whole = foldEntries(records.map((record) => ({ record, position: noPosition })))
    must(same(foldEntries(again.entries).messages, whole.messages), `the view is that of all records (${kept})`)
    must(
      same(
        (await again.all()).map(({ record }) => record),
        records,
      ),
      `all() returns all records (${kept})`,
    )
    must(again.isWhole === (again.entries.length === records.length), `isWhole says whether these are all (${kept})`)
    await again.release()
  }
}

async function checkRecall({ store, must }: Bench): Promise<void> {
  const session = await opened(store, 'recall', { as: 'new' })
  await session.append(toolTalk('recall'), session.version)
  const stranger = await opened(store, 'recall-2', { as: 'new' })
  await stranger.append([said('s1', 'The zeppelin of another session.')], stranger.version)
  const found = await session.recall('zeppelin', 10)
  must(
    found.matches.length === 2,
    `a word is found wherever it was said, in this session only: ${found.matches.length}`,
  )
  must(
    found.matches.every(({ snippet }) => snippet.includes('zeppelin')),
    'a match shows the word',
  )
  const both = (await session.recall('where is the zeppelin in a hangar?', 10)).matches
  must(both[0]?.snippet.includes('hangar') === true, 'a text with all words of a question comes first')
  must(same((await session.recall('zeppelins', 10)).matches.length, 2), 'other forms of a word are found')
  const one = await session.recall('zeppelin', 1)
  must(one.matches.length === 1 && one.more, 'the limit holds, and it is said that there is more')
  const odd = await session.recall("zebra' | 'quagga':* & ( \u0000", 10)
  must(odd.matches.length === 0, 'words that look like a query are only words')
  must((await session.read('recall-u1'))?.includes('zeppelin') === true, 'an entry is read by its uuid')
  must((await session.read('toolu_recall'))?.includes('hangar') === true, 'a tool result is read by the id of its call')
  must((await session.read('nobody')) === undefined, 'an id that nothing has reads nothing')
  must((await session.read('s1')) === undefined, 'nor does an entry of another session')
  await session.release()
  await stranger.release()
}

async function checkTakeover({ store, other, expire, must }: Bench): Promise<void> {
  if (!expire) return
  const slow = await opened(store, 'takeover', { as: 'new', owner: 'slow' })
  const first = await slow.append([said('t1')], slow.version)
  await expire()
  const second = await slow.append([said('t2')], first.type === 'stored' ? first.version : Number.NaN)
  must(second.type === 'stored', 'a writer whose lease ended goes on if nobody took the session')
  await expire()
  const quick = await opened(other, 'takeover', { as: 'existing', owner: 'quick' })
  const lost = await slow.append([said('t3')], second.type === 'stored' ? second.version : Number.NaN)
  must(isRefused(lost, 'lost'), 'once somebody took the session, the writer before is refused: it is "lost"')
  const retried = await slow.append([said('t2')], first.type === 'stored' ? first.version : Number.NaN)
  must(retried.type === 'stored', 'but is told that what it stored before is stored')
  await slow.release()
  must((await store.open('takeover', { as: 'existing' })).type === 'held', 'its release does not end the new lease')
  must((await quick.append([said('t4')], quick.version)).type === 'stored', 'the new writer writes')
  await quick.release()
  must(same(await idsIn(store, 'takeover'), ['t1', 't2', 't4']), 'every record is stored once, by whoever held it')
}

async function checkErasing({ store, other, must }: Bench): Promise<void> {
  const held: HeldSession[] = []
  for (const [id, options] of [
    ['erase-a', { user: 'ann' }],
    ['erase-a/subagents/agent-1', { parent: 'erase-a' }],
    ['erase-b', { user: 'ann' }],
    ['erase-c', { user: 'bob' }],
  ] as const) {
    const session = await opened(store, id, { as: 'new', ...options })
    await session.append([said(`${id}-1`)], session.version)
    if (id === 'erase-c') held.push(session)
    else await session.release()
  }
  const mine = await other.list({ user: 'ann' })
  must(same(ids(mine), ['erase-a', 'erase-b']), 'sessions are listed by user')
  must(
    mine.every(({ changed }) => !Number.isNaN(Date.parse(changed))),
    'with the time they changed',
  )
  const page = await other.list({ after: 'erase-a', limit: 2 })
  must(same(ids(page), ['erase-a/subagents/agent-1', 'erase-b']), 'sessions are listed by id, page by page')
  must(page[0]?.parent === 'erase-a', 'a sub-agent names its session')
  must((await other.list({ user: 'bob' }))[0]?.isHeld === true, 'a session that is being written is listed as held')
  must((await other.erase({ unchangedForDays: 1 })) === 0, 'retention spares what changed since')
  must((await other.erase({ sessions: ['erase-a', 'nobody'] })) === 2, 'a session is erased with its sub-agents')
  must((await store.open('erase-a', { as: 'existing' })).type === 'missing', 'an erased session is gone')
  must((await other.erase({ user: 'ann' })) === 1, 'all sessions of a user are erased')
  await sleep(20)
  await other.erase({ unchangedForDays: 0 })
  must(same(ids(await store.list()), ['erase-c']), 'retention spares sessions that are being written')
  must((await other.erase({ user: 'bob' })) === 1, 'erasing a user does not')
  for (const session of held) {
    const late = await session.append([said('erase-c-2')], session.version + 1)
    must(isRefused(late, 'lost'), 'the writer of an erased session is refused: it is "lost"')
    await session.release()
  }
  must(same(await store.list(), []), 'and nothing is left')
}

function isRefused(appended: Appended, reason: StoreErrorReason): boolean {
  return appended.type === 'refused' && appended.why !== '' && appended.reason === reason
}

/** Every started session is listed, found by its user and its parent, and erased with them, at any depth. */
async function checkFamilies({ store, other, must }: Bench): Promise<void> {
  const family = [
    ['A-1_b.c', { user: 'ann' }],
    ['A-1_b.c/subagents/agent-1', { parent: 'A-1_b.c' }],
    ['A-1_b.c/subagents/agent-1/subagents/agent-2', { parent: 'A-1_b.c/subagents/agent-1' }],
    ['A-1_b.c.d', { user: 'bob' }],
    ['x'.repeat(128), {}],
  ] as const
  for (const [id, options] of family) {
    const session = await opened(store, id, { as: 'new', ...options })
    await session.append([said(`${id.slice(-20)}-1`)], session.version)
    await session.release()
  }
  const all = await other.list()
  must(
    same(
      all.map(({ id, user, parent }) => [id, user, parent]),
      family
        .map(([id, options]) => [
          id,
          'user' in options ? options.user : undefined,
          'parent' in options ? options.parent : undefined,
        ])
        .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    ),
    `every session is listed with its user and its parent: ${JSON.stringify(ids(all)).slice(0, 300)}`,
  )
  for (const { id } of all) must((await recordsIn(other, id)).length === 1, `the records of ${id} are found`)
  must((await other.erase({ user: 'ann' })) === 3, 'sub-agents of sub-agents are erased with the user')
  const left = ['A-1_b.c.d', 'x'.repeat(128)]
  must(same(ids(await store.list()), left), 'and nobody else is')
  for (const id of left) must((await recordsIn(store, id)).length === 1, `the records of ${id} are still there`)
  await sleep(20)
  must((await other.erase({ unchangedForDays: 0 })) === 2, 'retention erases everything that nobody writes')
  must(same(await store.list(), []), 'and then nothing is left')
}

async function opened(store: SessionStore, id: string, options: OpenOptions): Promise<HeldSession> {
  const result = await store.open(id, options)
  if (result.type !== 'opened') throw new Error(`${id} cannot be opened: ${result.type}`)
  return result.session
}

function said(uuid: string, content = `I am ${uuid}.`): StoredRecord {
  return { id: uuid, record: { type: 'user', uuid, parentUuid: null, message: { role: 'user', content } } }
}

function idOf({ uuid }: JsonObject, at: number): string {
  return typeof uuid === 'string' ? uuid : `no-uuid-${at}`
}

function ids(items: readonly { readonly id: string }[]): readonly string[] {
  return items.map(({ id }) => id)
}

async function recordsIn(store: SessionStore, id: string): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  for await (const { record } of store.records(id)) found.push(record)
  return found
}

async function idsIn(store: SessionStore, id: string): Promise<readonly unknown[]> {
  return (await recordsIn(store, id)).map(({ uuid }) => uuid)
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
