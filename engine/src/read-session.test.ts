import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { noOutcome } from './core/ports/hooks.ts'
import { scripted } from './core/session/testing/world.ts'
import { createEngine as createAnyEngine } from './engine.ts'
import { offline } from './models/offline.ts'
import { createEngine } from './node-engine.ts'
import { memorySessions } from './stores/memory.ts'
import { generatePiSession } from './testing/foreign/pi.ts'
import { session as transcript } from './testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-read-'))
process.env.EVERLONG_CACHE_DIR = join(folder, 'cache')
afterAll(() => {
  delete process.env.EVERLONG_CACHE_DIR
  rmSync(folder, { recursive: true, force: true })
})

let files = 0
const written = (text: string) => {
  const path = join(folder, `session-${files++}.jsonl`)
  writeFileSync(path, text)
  return path
}

const talk = () =>
  transcript()
    .user('From now on never push on Fridays.')
    .assistant('Understood: no zeppelin on Fridays.')
    .boundary()
    .summary('They talked.')
    .user('List the files.')
    .assistant(`These: ${'one.ts '.repeat(3_000)}`)
    .user('And now?')

const textsOf = (messages: readonly { readonly content: unknown }[]) => JSON.stringify(messages.map((m) => m.content))

test('a file is read as it is opened, and neither it nor its folder changes', async () => {
  const engine = createEngine({ model: offline() })
  const path = join(folder, 'own.jsonl')
  const lived = await engine.start({ path, system: 'You are brief. '.repeat(200) })
  lived.add({ role: 'user', content: 'Remember the blue zeppelin.' })
  await lived.send()
  const [messages, { size, contextWindow }] = [lived.messages(), lived.explain()]
  await lived.close()
  const before = readFileSync(path)

  const session = await engine.read(path)
  expect([session.id, session.path]).toEqual([lived.id, path])
  expect(session.messages()).toEqual(messages)
  // The system prompt is not in the file, but its size is.
  expect(session.explain().size.tokens).toBe(size.tokens)
  expect(session.explain().contextWindow.value).toBe(contextWindow.value)
  expect((await session.recall('zeppelin')).matches.length).toBeGreaterThan(0)
  expect([...(await session.entries())].length).toBeGreaterThan(1)
  expect((await session.prepare()).type).toBe('ready')
  expect(session.messages()).toEqual(messages)
  await session.close()
  expect(readFileSync(path)).toEqual(before)
})

test('every call that would write is refused with a reason, and asks no model and no hook', async () => {
  const model = scripted(() => 'Done.')
  const hooked: string[] = []
  const hooks = {
    run: async ({ event }: { readonly event: string }) => {
      hooked.push(event)
      return noOutcome
    },
  }
  const session = await createAnyEngine({ model, hooks }).read(talk().records)
  const refused = { name: 'StoreError', reason: 'read-only' }
  expect(() => session.add({ role: 'user', content: 'Go.' })).toThrow(expect.objectContaining(refused))
  expect(() => session.record({ content: 'Done.' })).toThrow(expect.objectContaining(refused))
  const calls = [
    () => session.send(),
    () => session.undo(),
    () => session.clear(),
    () => session.pin('u1'),
    () => session.unpin('u1'),
    () => session.rewind('u1'),
    () => session.snip({ from: 'u1', to: 'a1' }),
    () => session.subagent(),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject(refused)
  await session.close()
  expect([model.requests.length, hooked]).toEqual([0, []])
})

test('before a boundary it is what that compaction was given, and what its summary leaves out is found', async () => {
  const { records, text } = talk()
  const boundary = String(records.find(({ subtype }) => subtype === 'compact_boundary')?.uuid)
  for (const source of [records, written(text)]) {
    const session = await createEngine({ model: offline() }).read(source, { before: boundary })
    expect(textsOf(session.messages())).toContain('no zeppelin on Fridays')
    expect(textsOf(session.messages())).not.toContain('List the files')
    expect((await session.recall('List the files')).matches).toEqual([])
    const missing = await session.missing('They talked.')
    expect(missing).toContain('From now on never push on Fridays.')
    const told = await session.missing('The user: "From now on never push on Fridays." Agent: no zeppelin on Fridays.')
    expect(told.length).toBeLessThan(missing.length)
  }
})

test('an entry can be named by its index, for a file and for records', async () => {
  const { records, text } = talk()
  for (const source of [records, written(text)]) {
    const engine = createEngine({ model: offline() })
    const entries = [...(await (await engine.read(source)).entries())]
    for (const [at, { record }] of entries.entries()) {
      const [byIndex, byUuid] = [
        await engine.read(source, { before: at }),
        await engine.read(source, { before: String(record.uuid) }),
      ]
      expect(byIndex.messages()).toEqual(byUuid.messages())
    }
    for (const before of [-1, 0.5, entries.length])
      await expect(engine.read(source, { before })).rejects.toMatchObject({ name: 'StoreError', reason: 'missing' })
  }
})

test('a plan says what a compaction would do, and does nothing', async () => {
  const session = await createEngine({ model: offline() }).read(talk().records)
  const before = session.messages()
  const plan = await session.plan()
  expect(plan.type === 'planned' && plan.tokens.summarized).toBeGreaterThan(1_000)
  const last = before.at(-1)?.uuid ?? ''
  const partial = await session.plan({ upTo: last })
  expect(partial.type === 'planned' && partial.kept.map(({ uuid }) => uuid)).toEqual([last])
  await expect(session.plan({ from: 'a', upTo: 'b' })).rejects.toThrow(TypeError)
  expect(session.messages()).toEqual(before)
})

test('a compaction is made with its records, as often as it is asked for, and nothing is written', async () => {
  const model = scripted(
    () => `<summary>They listed the files. ${'The list is long and complete. '.repeat(3)}</summary>`,
  )
  const events: string[] = []
  const { text, records } = talk()
  const path = written(text)
  const engine = createEngine({ model, redact: (said) => said.replaceAll('complete', '[gone]') })
  for (const source of [path, records]) {
    const session = await engine.read(source)
    const off = session.on('compaction-finished', ({ sessionId }) => events.push(String(sessionId)))
    const before = session.messages()
    const made = await session.compact({ instructions: 'Keep the names.' })
    expect(made).toMatchObject({ type: 'compacted', mechanism: 'direct' })
    if (made.type !== 'compacted') throw new Error(made.why)
    expect(made.summary).toContain('The list is long and [gone].')
    // A rule from before the first compaction, which the model never saw.
    expect(made.summary).toContain('From now on never push on Fridays.')
    expect(made.records.map(({ subtype, isCompactSummary }) => subtype ?? isCompactSummary)).toContain(true)
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('Keep the names.')
    expect(session.messages()).toEqual(before)
    expect((await session.compact()).type).toBe('compacted')
    off()
    expect(await session.compact({ budget: 10 })).toMatchObject({ type: 'failed', reason: 'no-progress' })
    const stopped = new AbortController()
    stopped.abort()
    expect(await session.compact({ signal: stopped.signal })).toMatchObject({ type: 'failed', reason: 'aborted' })
  }
  expect(events).toHaveLength(4)
  expect(new Set(events).size).toBe(1)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('a model of which nothing is known, and a system prompt that the reader names', async () => {
  const engine = createEngine({ model: offline() })
  const { records } = transcript().user('Hello.')
  const sizes = await Promise.all(
    [{}, { system: 'You are brief. '.repeat(400) }].map(async (options) =>
      (await engine.read(records, options)).explain(),
    ),
  )
  expect(sizes.map(({ model }) => model)).toEqual([undefined, undefined])
  expect((sizes[1]?.size.tokens ?? 0) - (sizes[0]?.size.tokens ?? 0)).toBeGreaterThan(1_000)
})

test('prepare() shows the next request without compacting, however full the context is, again and again', async () => {
  const model = scripted(() => 'A summary.')
  const engine = createAnyEngine({ model, settings: { contextWindow: 40_000, autoCompactAt: 4_000 } })
  const session = await engine.read(talk().user(`Read this: ${'word '.repeat(5_000)}`).records)
  expect(session.explain().size.tokens).toBeGreaterThan(4_000)
  const [first, second] = [await session.prepare(), await session.prepare()]
  expect([first.type, first.compaction, model.requests.length]).toEqual(['ready', undefined, 0])
  expect(JSON.stringify(second)).toBe(JSON.stringify(first))
})

test('records of other agents and of a store are read too; what is not there is an error', async () => {
  const { records } = generatePiSession({ seed: 3, turns: 4, compactions: 1 })
  const engine = createAnyEngine({ model: offline() })
  expect((await engine.read(records)).messages().length).toBeGreaterThan(2)
  const missing = { name: 'StoreError', reason: 'missing' }
  await expect(engine.read(records, { before: 'nowhere' })).rejects.toMatchObject(missing)
  await expect(engine.read('chat')).rejects.toMatchObject(missing)
  await expect(engine.read(undefined as never)).rejects.toThrow('read() needs records, or the id or path of a session')
  await expect(createEngine({ model: offline() }).read(join(folder, 'none.jsonl'))).rejects.toMatchObject({
    name: 'StoreError',
  })

  const store = memorySessions()
  const writer = await createAnyEngine({ model: offline(), store }).start({ id: 'chat' })
  writer.add({ role: 'user', content: 'Remember the blue zeppelin.' })
  await writer.stored()
  // It can be read while another process holds it.
  const read = await createAnyEngine({ model: offline(), store }).read('chat')
  expect(textsOf(read.messages())).toContain('blue zeppelin')
  await writer.close()
})

test('settings that a session noted hold for its own model, and for no other', async () => {
  const path = join(folder, 'noted.jsonl')
  const engine = createEngine({ model: offline(), settings: { autoCompactAt: 50_000 } })
  const lived = await engine.start({ path, model: 'claude-opus-4-5' })
  lived.add({ role: 'user', content: 'Remember the blue zeppelin.' })
  await lived.prepare()
  await lived.stored()
  await lived.close()
  const reader = createEngine({ model: offline() })
  const thresholdOf = async (options?: { readonly model: string }) =>
    (await reader.read(path, options)).explain().autoCompactThreshold.value
  expect(await thresholdOf()).toBe(50_000)
  expect(await thresholdOf({ model: 'claude-sonnet-4-5' })).not.toBe(50_000)
})
