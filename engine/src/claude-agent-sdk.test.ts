// The SessionStore for the Claude Agent SDK on every store of Everlong, and what happens to its sessions. The real SDK is
// driven by `npm run test:agents`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { AgentEntry, HookInput } from './adapters/claude-agent-sdk/types.ts'
import { everlong } from './claude-agent-sdk.ts'
import type { EngineEvent } from './core/ports/events.ts'
import { type ModelClient, type ModelRequest, noCapabilities } from './core/ports/model.ts'
import { type SessionStore, subagentId } from './core/ports/session-store.ts'
import { offline, recorded } from './models/offline.ts'
import { memorySessions } from './stores/memory.ts'
import { everyStore } from './stores/testing/every-store.ts'

const { stores, folder, stop } = await everyStore()
afterAll(stop)

const project = '-home-ann-shop'
const sessionId = '0b6b9b0e-6c5f-4a52-9a2b-0d8f3a1c7e55'
const main = { projectKey: project, sessionId }
const managed = (store: SessionStore) => everlong({ model: offline(), store, projectKey: project })

function entry(at: number, text: string, role: 'user' | 'assistant' = 'user'): AgentEntry {
  const message =
    role === 'user'
      ? { role, content: text }
      : { id: `msg_${at}`, type: 'message', role, model: 'claude-sonnet-4-6', content: [{ type: 'text', text }] }
  const parentUuid = at === 0 ? null : uuidOf(at - 1)
  const place = { sessionId, cwd: '/home/ann/shop', version: '2.1.325', isSidechain: false, userType: 'external' }
  const timestamp = new Date(Date.UTC(2026, 2, 2) + at * 1_000).toISOString()
  return { type: role, uuid: uuidOf(at), parentUuid, timestamp, ...place, message }
}

const uuidOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`

const rule = 'Never touch migration.sql, whatever anybody asks.'
const talk: readonly AgentEntry[] = [
  entry(0, `Look at the shop. ${rule}`),
  entry(1, `I looked at it. ${'It has shelves and a till. '.repeat(400)}`, 'assistant'),
  entry(2, 'The port is 41037.'),
  entry(3, 'Noted.', 'assistant'),
]

test('sessions of a project are listed from every page of the store', async () => {
  const all = memorySessions()
  const store: SessionStore = { ...all, list: (options) => all.list({ ...options, limit: 3 }) }
  const { sessionStore } = managed(store)
  const ids = Array.from({ length: 8 }, (_, at) => `session-${at}`)
  for (const id of ids) await sessionStore.append({ projectKey: project, sessionId: id }, [entry(0, 'Hi.')])
  await sessionStore.append({ projectKey: '-home-zoe', sessionId: 'other' }, [entry(0, 'Hi.')])
  expect((await sessionStore.listSessions(project)).map((session) => session.sessionId).toSorted()).toEqual(ids)
})

describe.each(stores)('a SessionStore on %s', (_, createStore) => {
  test('gives back what was appended, in order and deeply equal', async () => {
    const store = createStore()
    const { sessionStore } = managed(store)
    expect(await sessionStore.load(main)).toBe(null)
    const odd: AgentEntry = { type: 'tag', value: { deep: [1, null, 'ü\u0000', { a: 1.5e-7 }], empty: {} } }
    await sessionStore.append(main, talk.slice(0, 2))
    await sessionStore.append(main, [odd, ...talk.slice(2)])
    expect(await sessionStore.load(main)).toEqual([...talk.slice(0, 2), odd, ...talk.slice(2)])
    await store.close()
  })

  test('stores an entry with a uuid once, also when a batch comes again in another process', async () => {
    const store = createStore()
    await managed(store).sessionStore.append(main, [...talk, talk[3] as AgentEntry])
    await managed(store).sessionStore.append(main, talk)
    const { sessionStore } = managed(store)
    await sessionStore.append(main, [...talk.slice(2), entry(4, 'And now?')])
    const title: AgentEntry = { type: 'custom-title', title: 'Shop' }
    await sessionStore.append(main, [title, title])
    expect(await sessionStore.load(main)).toEqual([...talk, entry(4, 'And now?'), title, title])
    await store.close()
  })

  test('keeps batches that are appended at once in the order of the calls', async () => {
    const store = createStore()
    const { sessionStore } = managed(store)
    await Promise.all(talk.map((one) => sessionStore.append(main, [one])))
    expect(await sessionStore.load(main)).toEqual(talk)
    await store.close()
  })

  test('waits while another process has the session, and loses nothing', async () => {
    const store = createStore()
    const { sessionStore } = managed(store)
    await sessionStore.append(main, talk.slice(0, 2))
    const [info] = await store.list()
    const held = await store.open(info?.id ?? '', { as: 'existing', owner: 'worker 2' })
    if (held.type !== 'opened') throw new Error(held.type)
    const appended = sessionStore.append(main, talk.slice(2))
    const other = sessionStore.append({ ...main, sessionId: 'second' }, talk)
    await other
    expect(await sessionStore.load(main)).toEqual(talk.slice(0, 2))
    await held.session.release()
    await appended
    expect(await sessionStore.load(main)).toEqual(talk)
    await store.close()
  })

  test('has the transcripts of sub-agents under their own keys, and removes them with their session', async () => {
    const store = createStore()
    const { sessionStore } = managed(store)
    const subpaths = ['subagents/agent-a1', 'subagents/x-ray', 'workflows/one two/ünd_so']
    await sessionStore.append(main, talk)
    for (const subpath of subpaths) await sessionStore.append({ ...main, subpath }, [entry(9, subpath)])
    expect((await sessionStore.listSubkeys(main)).toSorted()).toEqual(subpaths.toSorted())
    for (const subpath of subpaths) {
      expect(await sessionStore.load({ ...main, subpath })).toEqual([entry(9, subpath)])
    }
    await sessionStore.delete({ ...main, subpath: 'subagents/x-ray' })
    expect(await sessionStore.listSubkeys(main)).toHaveLength(2)
    await sessionStore.delete(main)
    expect(await sessionStore.load(main)).toBe(null)
    expect(await sessionStore.listSubkeys(main)).toEqual([])
    await store.close()
  })

  test('lists only what can be loaded: nothing that Everlong or another program stores next to it', async () => {
    const store = createStore()
    const { sessionStore } = managed(store)
    await sessionStore.append(main, talk)
    const subpath = 'subagents/agent_1'
    for (const own of [subpath, 'everlong/results'])
      await sessionStore.append({ ...main, subpath: own }, [entry(9, own)])
    const [{ id = '' } = {}] = await store.list()
    const others = [`${id}_zz`, `${id}_41`, ...['agent_1', 'agent_zz', 'x-_'].map((name) => subagentId(id, name))]
    for (const other of others) {
      const parent = other.includes('/') ? id : undefined
      const opened = await store.open(other, { as: 'new', ...(parent === undefined ? {} : { parent }) })
      if (opened.type !== 'opened') throw new Error(opened.type)
      await opened.session.append([{ id: 'one', record: { type: 'user' } }], 0)
      await opened.session.release()
    }
    expect((await sessionStore.listSessions(project)).map((session) => session.sessionId)).toEqual([sessionId])
    expect(await sessionStore.listSubkeys(main)).toEqual([subpath])
    await store.close()
  })

  test('lists the sessions of one project with the time of their last change', async () => {
    const store = createStore()
    const { sessionStore } = managed(store)
    const before = Math.floor(Date.now() / 1_000) * 1_000 - 1_000
    await sessionStore.append(main, talk)
    await sessionStore.append({ ...main, sessionId: 'second', subpath: 'subagents/agent-b' }, [entry(9, 'Hi.')])
    await sessionStore.append({ ...main, sessionId: 'second' }, talk)
    await sessionStore.append({ projectKey: `${project}-more`, sessionId: 'third' }, talk)
    const listed = await sessionStore.listSessions(project)
    expect(listed.map((session) => session.sessionId).toSorted()).toEqual([sessionId, 'second'])
    expect(listed.every(({ mtime }) => Number.isInteger(mtime) && mtime >= before)).toBe(true)
    await store.close()
  })

  test('compacts by appending: all entries stay, and the boundary continues the session for the SDK', async () => {
    const store = createStore()
    const agent = managed(store)
    await agent.sessionStore.append(main, talk)
    expect(await agent.compact(sessionId)).toMatchObject({ type: 'compacted' })
    const loaded = (await agent.sessionStore.load(main)) ?? []
    expect(loaded.slice(0, talk.length)).toEqual(talk)
    const [boundary, summary] = loaded.slice(talk.length)
    const origin = { sessionId, cwd: '/home/ann/shop', version: '2.1.325' }
    const last = { parentUuid: null, logicalParentUuid: uuidOf(3) }
    expect(boundary).toMatchObject({ type: 'system', subtype: 'compact_boundary', ...last, ...origin })
    expect(summary).toMatchObject({ type: 'user', isCompactSummary: true, parentUuid: boundary?.uuid, ...origin })
    expect(JSON.stringify(summary)).toContain(rule)
    // The SDK continues after it, and still recognizes the same entries.
    await agent.sessionStore.append(main, [...talk, entry(5, 'Go on.')])
    expect(await agent.sessionStore.load(main)).toEqual([...loaded, entry(5, 'Go on.')])
    await store.close()
  })
})

describe('before a query', () => {
  const large = entry(2, 'The log says nothing new. '.repeat(20_000))

  test('a session is compacted when its context is nearly full, and left alone before that', async () => {
    const agent = everlong({ model: offline(), projectKey: project, settings: { contextWindow: 100_000 } })
    expect(await agent.prepare(undefined)).toBe(undefined)
    expect(await agent.prepare(sessionId)).toBe(undefined)
    await agent.sessionStore.append(main, talk.slice(0, 2))
    expect(await agent.prepare(sessionId)).toBe(undefined)
    await agent.sessionStore.append(main, [large, entry(3, 'Noted.', 'assistant')])
    expect(await agent.prepare(sessionId)).toMatchObject({ type: 'compacted' })
    expect(await agent.prepare(sessionId)).toBe(undefined)
  })

  test('it is an automatic compaction: it ends below its target, with a request that no cache could help', async () => {
    const events: EngineEvent[] = []
    const asked: ModelRequest[] = []
    const words = Array.from({ length: 30 }, (_, at) => `Shelf ${at} of the shop holds tin ${at * 7}.`).join(' ')
    const recording = recorded({ summaries: () => `<summary>1. Primary request: look at the shop. ${words}</summary>` })
    const model: ModelClient = {
      ...recording,
      model: 'claude-sonnet-4-6',
      capabilities: () => ({ ...noCapabilities, promptCache: true, window: 100_000 }),
      send: (request, options) => {
        asked.push(request)
        return recording.send(request, options)
      },
    }
    const agent = everlong({
      model,
      projectKey: project,
      // All of it fits into one request for a summary.
      settings: { contextWindow: 100_000, autoCompactAt: 40_000 },
      onEvent: (event) => events.push(event),
    })
    const log = entry(2, 'The log says nothing new. '.repeat(7_000))
    await agent.sessionStore.append(main, [...talk.slice(0, 2), log, entry(3, 'Noted.', 'assistant')])
    const done = await agent.prepare(sessionId)
    expect(done).toMatchObject({ type: 'compacted', mechanism: 'direct' })
    const { after, chain } = done as Extract<typeof done, { readonly type: 'compacted' }>
    expect(after).toBeLessThan(0.6 * chain.threshold)
    expect(asked.map((request) => JSON.stringify(request).includes('cache_control'))).toEqual([false])
    expect(events.filter(({ type }) => type === 'micro-compacted' || type === 'still-over-threshold')).toEqual([])
  })

  test('instructions are obeyed, and only where it is due', async () => {
    const asked: string[] = []
    const recording = recorded({ summaries: () => 'They talked about a log.' })
    const send: ModelClient['send'] = (request, options) => {
      asked.push(JSON.stringify(request))
      return recording.send(request, options)
    }
    const agent = everlong({ model: { ...recording, send }, projectKey: project, settings: { contextWindow: 100_000 } })
    await agent.sessionStore.append(main, talk.slice(0, 2))
    expect(await agent.prepare(sessionId, { instructions: 'Keep the ports.' })).toBe(undefined)
    await agent.sessionStore.append(main, [large, entry(3, 'Noted.', 'assistant')])
    expect(await agent.prepare(sessionId, { instructions: 'Keep the ports.' })).toMatchObject({ type: 'compacted' })
    expect(asked.map((text) => text.includes('Keep the ports.'))).toEqual([true])
  })

  test('a compaction that cannot be had is reported, and the session stays as it was', async () => {
    const failing: ModelClient = {
      ...offline(),
      provider: 'failing',
      send: async () => ({ type: 'failed', reason: 'refused', message: 'No.', tries: 1 }),
    }
    const settings = { contextWindow: 100_000, summary: { offline: 'never' } } as const
    const agent = everlong({ model: failing, projectKey: project, settings })
    const entries = [...talk.slice(0, 2), large, entry(3, 'Noted.', 'assistant')]
    await agent.sessionStore.append(main, entries)
    expect(await agent.prepare(sessionId)).toMatchObject({ type: 'failed', why: expect.stringContaining('No.') })
    // A record of the current settings is not a message.
    const loaded = (await agent.sessionStore.load(main)) ?? []
    expect(loaded.filter(({ type }) => type !== 'everlong-context')).toEqual(entries)
  })

  test('life after life, what the user said is in the summary, and two sessions never meet', async () => {
    const store = memorySessions()
    const other = { ...main, sessionId: 'bob' }
    let at = talk.length
    for (let life = 1; life <= 3; life++) {
      const agent = managed(store)
      if (life === 1) await agent.sessionStore.append(main, talk)
      await agent.sessionStore.append(other, [entry(at, `Bob in life ${life}: my PIN is 1111.`)])
      const newest = (await agent.sessionStore.load(main))?.findLast(({ uuid }) => uuid !== undefined)
      const said = { ...entry(at, `Look again, life ${life}.`), parentUuid: newest?.uuid ?? null }
      const answer = entry(at + 1, `All is well. ${'It has shelves. '.repeat(400)}`, 'assistant')
      await agent.sessionStore.append(main, [said, answer])
      at += 2
      expect(await agent.compact(sessionId)).toMatchObject({ type: 'compacted' })
      const loaded = (await agent.sessionStore.load(main)) ?? []
      const summary = JSON.stringify(loaded.findLast(({ isCompactSummary }) => isCompactSummary === true))
      expect([rule, 'The port is 41037.', 'Look again, life 1.'].filter((words) => !summary.includes(words))).toEqual(
        [],
      )
      expect(JSON.stringify(loaded)).not.toContain('Bob')
    }
  })

  test('a session whose own compaction was blocked is compacted however small it is', async () => {
    const agent = everlong({ model: offline(), projectKey: project, ownCompaction: 'block' })
    await agent.sessionStore.append(main, talk)
    const [hook] = agent.hooks.PreCompact[0]?.hooks ?? []
    expect(await hook?.(hookInput('PreCompact', { trigger: 'auto' }))).toEqual({
      decision: 'block',
      reason: 'Everlong compacts this session before it is resumed.',
    })
    expect(await agent.prepare(sessionId)).toMatchObject({ type: 'compacted' })
    expect(await agent.prepare(sessionId)).toBe(undefined)
  })

  test('summaries of sessions are folded by the SDK’s own function, once for each state', async () => {
    let folds = 0
    const foldSessionSummary = (_: unknown, key: { sessionId: string }, entries: AgentEntry[]) => {
      folds++
      return { sessionId: key.sessionId, mtime: 0, data: { entries: entries.length } }
    }
    let now = 1_000
    const store = memorySessions({ now: () => now })
    const { sessionStore } = everlong({ model: offline(), store, foldSessionSummary })
    await sessionStore.append(main, talk)
    const summaries = async () => (await sessionStore.listSessionSummaries?.(project)) ?? []
    const [listed] = await sessionStore.listSessions(project)
    expect(await summaries()).toEqual([{ sessionId, mtime: listed?.mtime, data: { entries: 4 } }])
    await summaries()
    expect(folds).toBe(1)
    now++
    await sessionStore.append(main, [{ type: 'user', uuid: 'later', message: { role: 'user', content: 'Go on.' } }])
    expect((await summaries()).map(({ data }) => data)).toEqual([{ entries: 5 }])
    expect(folds).toBe(2)
  })
})

test('a session is opened by the id of the SDK, and writable for the SDK again when it is closed', async () => {
  const { sessionStore, session, sessions, close } = everlong({ model: offline(), projectKey: project })
  await sessionStore.append(main, talk)
  const opened = await session(sessionId)
  expect(opened.messages().length).toBeGreaterThan(0)
  expect(sessions()).toEqual([opened])
  await close()
  expect(sessions()).toEqual([])
  await sessionStore.append(main, [{ type: 'user', uuid: 'later', message: { role: 'user', content: 'Go on.' } }])
  const again = await session(sessionId)
  expect(JSON.stringify(again.messages())).toContain('Go on.')
  await again.close()
  expect(sessions()).toEqual([])
})

function hookInput(event: string, more: object = {}): HookInput {
  const base = { session_id: sessionId, transcript_path: join(folder, 'session.jsonl'), cwd: '/home/ann/shop' }
  return { hook_event_name: event, ...base, ...more }
}

describe('the hooks', () => {
  const agent = () => everlong({ model: offline(), projectKey: project, maxResultLength: 2_000 })
  const run = (hooks: ReturnType<typeof agent>['hooks'], input: HookInput) =>
    hooks[input.hook_event_name as keyof typeof hooks][0]?.hooks[0]?.(input)

  test('shorten a large tool result in its own shape, and recall reads the original by the id of its call', async () => {
    const { hooks, recallTool, sessionStore } = agent()
    const stdout = `first line\n${'nothing to see\n'.repeat(1_000)}the needle\n${'nothing to see\n'.repeat(1_000)}last line`
    const tool_response = { stdout, stderr: '', interrupted: false, isImage: false }
    const output = await run(
      hooks,
      hookInput('PostToolUse', { tool_name: 'Bash', tool_use_id: 'toolu_1', tool_response }),
    )
    const { updatedToolOutput } = { updatedToolOutput: undefined, ...output?.hookSpecificOutput }
    const updated = updatedToolOutput as unknown as typeof tool_response
    expect(updated).toEqual({ ...tool_response, stdout: updated.stdout })
    expect(updated.stdout.length).toBeLessThanOrEqual(2_000)
    expect(updated.stdout).toMatch(/^first line[\s\S]*recall\({"read":"toolu_1"}\)[\s\S]*last line$/)
    // The SDK stores the model's form.
    const shown = [{ type: 'tool_result', tool_use_id: 'toolu_1', content: updated.stdout }]
    await sessionStore.append(main, [{ ...entry(0, ''), message: { role: 'user', content: shown } }])
    const recall = recallTool(() => sessionId)
    expect((await recall.handler({ query: 'needle' })).content[0]?.text).toContain('toolu_1')
    expect((await recall.handler({ read: 'toolu_1' })).content[0]?.text).toContain('"stdout": "first line')
    expect(await recall.handler({ read: 'toolu_2' })).toMatchObject({ isError: true })
    expect(await recall.handler({})).toMatchObject({ isError: true })
  })

  test('leave small results and images alone', async () => {
    const { hooks } = agent()
    const image = { isImage: true, stdout: 'A'.repeat(10_000) }
    for (const tool_response of ['short', image, [{ type: 'image', source: { data: 'A'.repeat(10_000) } }]]) {
      const input = hookInput('PostToolUse', { tool_name: 'Bash', tool_use_id: 'toolu_1', tool_response })
      expect(await run(hooks, input)).toEqual({})
    }
  })

  test('ask the SDK’s own summary to keep the words of the user', async () => {
    const output = await run(agent().hooks, hookInput('PreCompact', { trigger: 'auto' }))
    expect(output).toEqual({ systemMessage: expect.stringMatching(/from now on.*word for word/) })
  })

  /** Boundary and summary with the same text each time. */
  const compactionAt = (at: number) => [
    { ...entry(at, ''), type: 'system', subtype: 'compact_boundary', parentUuid: null, message: undefined },
    { ...entry(at + 1, 'Summary: They talked.'), isCompactSummary: true },
  ]
  const twice = [
    ...talk.slice(0, 2),
    ...compactionAt(2),
    entry(4, 'The port is 41037.'),
    entry(5, 'Noted.', 'assistant'),
    ...compactionAt(6),
  ]

  test.each([
    ['before it is in the transcript', talk],
    ['when it is there already', [...talk, ...compactionAt(4)]],
    ['when an earlier summary has the same words', twice],
  ])('bring rules back after a compaction, and with the next message what it left out: %s', async (_, entries) => {
    const { hooks } = agent()
    writeFileSync(join(folder, 'session.jsonl'), entries.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const start = await run(hooks, hookInput('SessionStart', { source: 'compact' }))
    expect(JSON.stringify(start)).toContain(rule)
    expect(await run(hooks, hookInput('SessionStart', { source: 'startup' }))).toEqual({})
    expect(
      await run(
        hooks,
        hookInput('PostCompact', {
          compact_summary: '<analysis>The port is 41037.</analysis>\n<summary>They talked.</summary>',
        }),
      ),
    ).toEqual({})
    const next = await run(hooks, hookInput('UserPromptSubmit', { prompt: 'Go on.' }))
    expect(JSON.stringify(next)).toContain('The port is 41037.')
    expect(await run(hooks, hookInput('PostToolBatch'))).toEqual({})
  })
})

test('a session that the store does not have is said to be missing, with its project, and none is started', async () => {
  const store = memorySessions()
  const { session, compact, sessions } = managed(store)
  const missing = {
    name: 'StoreError',
    reason: 'missing',
    message: `The store has no session ${sessionId} of the project ${project}. For a session of another folder, pass its projectKey to everlong().`,
  }
  await expect(session(sessionId)).rejects.toMatchObject(missing)
  await expect(compact(sessionId)).rejects.toMatchObject(missing)
  expect([await store.list(), sessions()]).toEqual([[], []])
})
