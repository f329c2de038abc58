// Stores without a server, against the contract.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkNewSessionId, type OpenOptions, type SessionStore } from '../core/ports/session-store.ts'
import { nodeProcesses } from '../node/lease/lock-file.ts'
import { runStoreContract } from '../testing/stores/contract.ts'
import { copySessions } from './copy.ts'
import { transcriptFiles } from './disk/file.ts'
import { jsonlSessions } from './disk/jsonl.ts'
import { memorySessions } from './memory.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-stores-'))
  process.env.EVERLONG_CACHE_DIR = join(folder, 'cache')
})
afterEach(() => {
  delete process.env.EVERLONG_CACHE_DIR
  rmSync(folder, { recursive: true, force: true })
})

const idsIn = async (store: SessionStore) => (await store.list()).map(({ id }) => id)

test('sessions in memory keep the contract of a store', async () => {
  expect(await runStoreContract({ store: memorySessions() })).toEqual({ broken: [] })
})

test('transcripts that are opened by path keep the contract of a store', async () => {
  const sessions = join(folder, 'sessions')
  mkdirSync(sessions)
  // Ids become paths. A path has no user and no list, so the folder has both and starts the sessions of a user.
  const byPath = (): SessionStore => {
    const named = jsonlSessions({ folder: sessions })
    const files = transcriptFiles({})
    return {
      ...named,
      open: async (id, { parent, user, ...options }) => {
        if (options.as === 'new') checkNewSessionId(id, options.isCopy ? { parent, isCopy: true } : { parent })
        // A path may be anything; an id may not.
        else if (!(await idsIn(named)).includes(id)) return { type: 'missing' }
        const started = user === undefined ? undefined : await named.open(id, { as: 'new', user, parent })
        if (started?.type === 'opened') await started.session.release()
        const as = started?.type === 'opened' ? 'existing' : options.as
        const result = await files.open(join(sessions, `${id}.jsonl`), { ...options, as })
        return result.type === 'opened' ? { type: 'opened', session: { ...result.session, id } } : result
      },
    }
  }
  expect(await runStoreContract({ store: byPath(), other: byPath() })).toEqual({ broken: [] })
})

describe('sessions in a folder', () => {
  test('keep the contract of a store, and leave nothing when all are erased', async () => {
    const sessions = join(folder, 'sessions')
    const store = jsonlSessions({ folder: sessions })
    expect(await runStoreContract({ store, other: jsonlSessions({ folder: sessions }) })).toEqual({ broken: [] })
    expect(readdirSync(sessions)).toEqual([])
    expect(readdirSync(join(folder, 'cache', 'archive'))).toEqual([])
  })

  const user = (uuid: string) => ({
    id: uuid,
    record: { type: 'user', uuid, message: { role: 'user', content: uuid } },
  })

  async function start(store: SessionStore, id: string, options: Partial<OpenOptions> = {}): Promise<void> {
    const opened = await store.open(id, { as: 'new', ...options })
    if (opened.type !== 'opened') throw new Error(`${id}: ${opened.type}`)
    await opened.session.append([user(`in ${id}`)], opened.session.version)
    await opened.session.release()
  }

  /** Sessions of an earlier version: ids with "/", names that end in ".jsonl", names chosen by a person. */
  function writeOldSessions(): void {
    for (const name of [
      'team.jsonl',
      'team/chat1.jsonl',
      'team/subagents/agent-1.jsonl',
      'x.jsonl',
      'x.jsonl.jsonl',
      'my chat.jsonl',
    ]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), `${JSON.stringify(user(name).record)}\n`)
    }
    mkdirSync(join(folder, 'team/chat1'))
    writeFileSync(join(folder, 'team/chat1/session.json'), '{"user":"ann"}')
    writeFileSync(join(folder, 'team/session.json'), '{"user":"bob"}')
    writeFileSync(join(folder, 'team/chat1.jsonl.lock.t.draft'), '')
  }

  const oldIds = ['my chat', 'team', 'team/chat1', 'team/subagents/agent-1', 'x', 'x.jsonl']

  test('of earlier versions are listed, opened, read and copied, whatever their ids are', async () => {
    writeOldSessions()
    const store = jsonlSessions({ folder })
    expect(await idsIn(store)).toEqual(oldIds)
    for (const id of oldIds) {
      const opened = await store.open(id, { as: 'existing' })
      expect([id, opened.type === 'opened' && opened.session.entries.length]).toEqual([id, 1])
      if (opened.type === 'opened') await opened.session.release()
    }
    const copy = memorySessions()
    expect(await copySessions({ from: store, to: copy })).toEqual({ sessions: 6, records: 6, skipped: [] })
    expect(await idsIn(copy)).toEqual(oldIds)
  })

  test('of earlier versions are erased without those of others that lie among their files', async () => {
    writeOldSessions()
    const store = jsonlSessions({ folder })
    expect(await store.erase({ user: 'bob' })).toBe(2)
    expect(await idsIn(store)).toEqual(['my chat', 'team/chat1', 'x', 'x.jsonl'])
    expect((await store.list({ user: 'ann' })).map(({ id }) => id)).toEqual(['team/chat1'])
    expect(readdirSync(join(folder, 'team')).toSorted()).toEqual(['chat1', 'chat1.jsonl', 'chat1.jsonl.lock.t.draft'])
    expect(await store.erase({ sessions: ['x.jsonl'] })).toBe(1)
    expect(await idsIn(store)).toEqual(['my chat', 'team/chat1', 'x'])
    expect(await store.erase({ user: 'ann' })).toBe(1)
    expect(readdirSync(join(folder, 'team'))).toEqual([])
    expect(await store.erase({ unchangedForDays: -1 })).toBe(2)
    expect(await idsIn(store)).toEqual([])
  })

  test('are not written or read through a link in place of a folder or a transcript', async () => {
    const store = jsonlSessions({ folder: join(folder, 'sessions') })
    const victim = join(folder, 'victim')
    mkdirSync(join(victim, 'subagents'), { recursive: true })
    writeFileSync(join(victim, 'subagents', 'agent-2.jsonl'), `${JSON.stringify(user('secret').record)}\n`)
    await start(store, 's')
    symlinkSync(victim, join(folder, 'sessions', 's'))
    symlinkSync(join(victim, 'subagents', 'agent-2.jsonl'), join(folder, 'sessions', 'link.jsonl'))
    const refused = { name: 'StoreError', reason: 'invalid', message: expect.stringContaining('symbolic link') }
    await expect(start(store, 's/subagents/agent-1', { parent: 's' })).rejects.toMatchObject(refused)
    for (const id of ['s/subagents/agent-2', 'link']) {
      expect((await store.open(id, { as: 'existing' })).type).toBe('missing')
      for await (const record of store.records(id)) expect.unreachable(JSON.stringify(record))
    }
    expect(await idsIn(store)).toEqual(['s'])
    expect(readdirSync(join(victim, 'subagents'))).toEqual(['agent-2.jsonl'])
    expect(await store.erase({ sessions: ['s'] })).toBe(1)
    expect(readdirSync(join(victim, 'subagents'))).toEqual(['agent-2.jsonl'])
  })

  test('whose user cannot be noted are not started, and can be started later', async () => {
    const store = jsonlSessions({ folder })
    writeFileSync(join(folder, 's'), 'A file in place of the folder of the session.')
    await expect(start(store, 's', { user: 'ann' })).rejects.toMatchObject({ name: 'StoreError', reason: 'invalid' })
    expect(readdirSync(folder)).toEqual(['s'])
    rmSync(join(folder, 's'))
    await start(store, 's', { user: 'ann' })
    expect((await store.list({ user: 'ann' })).length).toBe(1)
  })

  test('that a crashed process left locked are erased by retention', async () => {
    const store = jsonlSessions({ folder })
    await start(store, 'crashed')
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    const time = new Date().toISOString()
    const lock = {
      owner: 'crashed',
      pid,
      token: 't',
      acquiredAt: time,
      expiresAt: '2999-01-01T00:00:00Z',
    }
    writeFileSync(join(folder, 'crashed.jsonl.lock'), JSON.stringify({ ...nodeProcesses.self(), ...lock }))
    expect((await store.list()).map(({ isHeld }) => isHeld)).toEqual([false])
    expect(await store.erase({ unchangedForDays: -1 })).toBe(1)
    expect(readdirSync(folder)).toEqual([])
  })
})
