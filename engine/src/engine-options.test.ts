// Typical mistakes of programs in JavaScript get an error with advice.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEngine } from './engine.ts'
import { offline } from './models/offline.ts'
import { createEngine as createNodeEngine } from './node-engine.ts'
import { memorySessions } from './stores/memory.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-options-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Forbidden in TypeScript, but possible in JavaScript. */
const any = (value: unknown) => value as never

describe.each([
  ['everlong', createEngine as (options: never) => unknown],
  ['everlong/node', createNodeEngine as (options: never) => unknown],
])('createEngine of %s', (_, create) => {
  test.each<[unknown, string]>([
    [undefined, 'createEngine() needs options; it got undefined.'],
    [null, 'createEngine() needs options; it got null.'],
    ['claude', 'createEngine() needs options; it got "claude".'],
    [{}, 'createEngine() needs a model client as "model"; it is undefined.'],
    [{ model: 'claude-opus-4-5' }, 'createEngine() needs a model client as "model"; it is "claude-opus-4-5".'],
    [{ model: {} }, 'createEngine() needs a model client as "model"; it is a value of type object.'],
  ])('refuses %j', (options, message) => {
    expect(() => create(any(options))).toThrow(TypeError)
    expect(() => create(any(options))).toThrow(`${message} For example: createEngine({ model: `)
  })
})

test('an option that does not exist is named by every session, and the others hold', async () => {
  const model = offline()
  const engine = createNodeEngine(
    any({ model, setings: {}, environment: {}, hookSettings: {}, xyz: 1, mostConversations: 2 }),
  )
  expect((await engine.start()).explain().warnings).toEqual([
    'createEngine() has no option setings: did you mean settings?',
    'createEngine() has no option xyz; it is ignored.',
    'createEngine() has no option mostConversations: it was renamed to maxConversations.',
  ])
  const right = createNodeEngine({ model, environment: {}, hookSettings: {}, store: memorySessions(), settings: {} })
  expect((await right.start()).explain().warnings).toEqual([])
})

test.each([undefined, null, '', 5])('open(%j) says what it needs', async (given) => {
  const onDisk = createNodeEngine({ model: offline() })
  const inStore = createEngine({ model: offline(), store: memorySessions() })
  await expect(onDisk.open(any(given))).rejects.toThrow('open() needs the path of a transcript; it got ')
  await expect(inStore.open(any(given), { ifMissing: 'start' })).rejects.toThrow(
    'open() needs the id of a session; it got ',
  )
})

test('start({ path }) of an engine with a store is refused, and writes nothing', async () => {
  const store = memorySessions()
  const engine = createNodeEngine({ model: offline(), store })
  const start = engine.start(any({ path: join(folder, 's.jsonl') }))
  await expect(start).rejects.toThrow('start() takes no path here, because the sessions are in a store: pass an id')
  expect([await store.list(), readdirSync(folder)]).toEqual([[], []])
  await expect(createNodeEngine({ model: offline() }).start(any({ path: null }))).rejects.toThrow(
    'start() needs the path of a transcript; it got null.',
  )
})

test.each([undefined, 'refuse'] as const)(
  'a session that is not there is not opened with ifMissing %s',
  async (ifMissing) => {
    const engine = createEngine({ model: offline(), environment: {}, store: memorySessions() })
    await expect(engine.open('nobody', ifMissing ? { ifMissing } : {})).rejects.toThrow(/There is no session nobody/)
    const started = await engine.open('nobody', { ifMissing: 'start' })
    expect(started.id).toBe('nobody')
    await started.close()
  },
)
