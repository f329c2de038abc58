// A new process that continues a session remembers a window that an overflow revealed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { modelFacts } from './core/catalog/models.ts'
import type { ModelClient } from './core/ports/model.ts'
import { answerOf, scripted } from './core/session/testing/world.ts'
import { countTokens } from './core/tokens/estimate/counting.ts'
import { createEngine } from './node-engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-window-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

const learned = { value: 30_000, source: 'learned from an overflow error' }
const known = modelFacts('claude-opus-5')?.window
const endpoint = 'https://someone:hunter2@one.example/v1?key=hunter3'

/** Refuses requests larger than its window, and counts them. */
function server(
  window = learned.value,
  at = endpoint,
): { readonly client: ModelClient; readonly refused: () => number } {
  let refused = 0
  const client = scripted(
    ({ model, messages }) => {
      const actual = countTokens(messages, { model })
      if (actual <= window) return answerOf('Done.', { model })
      refused++
      return { type: 'failed', reason: 'overflow', message: 'too long', overflow: { actual, limit: window }, tries: 1 }
    },
    { model: 'claude-opus-5' },
  )
  return { client: { ...client, endpoint: at }, refused: () => refused }
}

const engineOf = (model: ModelClient, settings = {}) =>
  createEngine({
    model,
    settings: { sessionMemory: false, summary: { offline: 'always' }, ...settings },
    environment: {},
  })

const words = (at: number) => `Part ${at}: ${'the branch parses orders '.repeat(900)}`

/** A session that has just learned its window, with its last request. */
async function learnedSession() {
  const path = join(folder, `${files++}.jsonl`)
  const { client, refused } = server()
  const session = await engineOf(client).start({ path })
  for (let at = 0; refused() === 0 && at < 20; at++) {
    session.add({ role: 'user', content: words(at) })
    await session.send()
  }
  const before = session.explain().contextWindow
  await session.close()
  return { path, before, refused: refused() }
}

async function windowOf(
  path: string,
  client: ModelClient,
  { model, settings }: { model?: string; settings?: object } = {},
) {
  const session = await engineOf(client, settings).open(path, model === undefined ? {} : { model })
  const { contextWindow } = session.explain()
  await session.close()
  return contextWindow
}

test('the window is known after opening, also the second time, and no request is refused again', async () => {
  const { path, before, refused } = await learnedSession()
  expect([before, refused]).toEqual([learned, 1])
  expect(await windowOf(path, server().client)).toEqual(learned)
  const again = server()
  const session = await engineOf(again.client).open(path)
  for (let at = 20; at < 30; at++) {
    session.add({ role: 'user', content: words(at) })
    await session.send()
  }
  expect([session.explain().contextWindow, again.refused()]).toEqual([learned, 0])
  await session.close()
  expect(await windowOf(path, server().client)).toEqual(learned)
})

test('another model, another server or a setting of the host ends it', async () => {
  const { path } = await learnedSession()
  const { client } = server()
  const elsewhere = server(learned.value, 'https://two.example/v1').client
  expect((await windowOf(path, client, { model: 'claude-haiku-4-5' })).value).toBe(200_000)
  expect((await windowOf(path, elsewhere)).value).toBe(known)
  expect((await windowOf(path, client, { settings: { contextWindow: 90_000 } })).value).toBe(90_000)
  const session = await engineOf(client).open(path)
  await session.useModel({ client, name: 'claude-haiku-4-5' })
  expect(session.explain().contextWindow.value).toBe(200_000)
  await session.close()
  expect((await windowOf(path, client)).value).toBe(known)
})

test('a recorded window with which the settings of today cannot work is ignored', async () => {
  const { path } = await learnedSession()
  expect((await windowOf(path, server().client, { settings: { maxOutputTokens: 31_000 } })).value).toBe(known)
})

test('a window of one session is not used in another', async () => {
  const { path } = await learnedSession()
  const engine = engineOf(server().client)
  const opened = await engine.open(path)
  const other = await engine.start({ path: join(folder, `${files++}.jsonl`) })
  expect([opened.explain().contextWindow, other.explain().contextWindow.value]).toEqual([learned, known])
  await opened.close()
  await other.close()
})

test('the address of the server is recorded without its secrets', async () => {
  const { path } = await learnedSession()
  const text = readFileSync(path, 'utf8')
  expect([text.includes('"learnedAt":"https://one.example/v1"'), text.includes('hunter')]).toEqual([true, false])
})

test.each([29_999.5, 1_000, -1])('a recorded window of %d tokens is ignored', async (tokens) => {
  const { path } = await learnedSession()
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/"learnedWindow":\d+/g, `"learnedWindow":${tokens}`))
  expect((await windowOf(path, server().client)).value).toBe(known)
})
