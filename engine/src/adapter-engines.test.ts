// An adapter with the createEngine of everlong/node: files from disk, notes next to the transcript, git. Ids follow the same rule
// as with any other engine.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { everlong as claudeAgent } from './claude-agent-sdk.ts'
import { noTokens } from './core/message/usage.ts'
import type { ModelClient } from './core/ports/model.ts'
import { offline } from './models/offline.ts'
import { createEngine } from './node-engine.ts'
import { everlong } from './openai.ts'
import { jsonlSessions } from './stores/disk/jsonl.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-adapter-'))
afterAll(() => rmSync(folder, { recursive: true }))

const store = jsonlSessions({ folder })
const redact = (text: string) => text
const path = join(folder, 'orders.ts')
const shown = Array.from({ length: 40 }, (_, at) => `export const order${at} = ${at}`)

const call = { id: 'c1', type: 'function', function: { name: 'Read', arguments: JSON.stringify({ file_path: path }) } }
const history = [
  { role: 'user', content: 'Read the orders.' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: shown.map((line, at) => `${at + 1}\t${line}`).join('\n') },
  ...['one', 'two', 'three'].flatMap((word) => [
    { role: 'assistant', content: `Done with ${word}. ${'Each order was checked. '.repeat(100)}` },
    { role: 'user', content: `Now ${word} more.` },
  ]),
]

test.each([
  ['of everlong/node, what is on disk', createEngine, true],
  ['of everlong, what the conversation showed', undefined, false],
] as const)('a compaction restores, with the engine %s', async (_, create, isFromDisk) => {
  writeFileSync(path, ['export const onlyOnDisk = 1', ...shown].join('\n'))
  const managed = everlong({ model: offline(), store, redact, ...(create ? { createEngine: create } : {}) })
  await using _managed = managed
  await managed.chat(history, { sessionId: `restored-${isFromDisk}` }, async () => undefined)
  const session = await managed.session(`restored-${isFromDisk}`)
  expect((await session.compact()).type).toBe('compacted')
  const messages = JSON.stringify(session.messages())
  expect(messages).toContain('order3 = 3')
  expect(messages.includes('onlyOnDisk')).toBe(isFromDisk)
})

test('notes are written next to the transcript, and another process continues them', async () => {
  const asked: string[] = []
  const model: ModelClient = {
    ...offline(),
    capabilities: (name) => ({ ...offline().capabilities(name), offline: false }),
    send: async ({ source, messages }) => {
      expect(source).toBe('session-memory')
      asked.push(JSON.stringify(messages))
      const text = `<section name="Current state">\nNote ${asked.length}.\n</section>`
      const answer = { type: 'answer', id: `msg_${asked.length}`, model: 'offline', stopReason: 'end_turn' } as const
      return { ...answer, content: [{ type: 'text', text }], usage: noTokens }
    },
  }
  const notes = join(folder, 'noted', 'session-memory', 'summary.md')
  const settings = { sessionMemory: { minTokens: 100, growth: 1, toolCalls: 0 } }
  const messages = [...history]
  const lengths: number[] = []
  for (const process of [1, 2]) {
    await using managed = everlong({ model, store, createEngine, settings })
    for (const turn of [1, 2]) {
      await managed.chat(messages, { sessionId: 'noted' }, async () => undefined)
      messages.push({ role: 'assistant', content: `Done with turn ${turn} of ${process}.` })
      messages.push({ role: 'user', content: 'Go on.' })
    }
    const session = await managed.session('noted')
    expect([session.path, session.explain().sessionMemory?.path]).toEqual([join(folder, 'noted.jsonl'), notes])
    await session.idle()
    expect(readFileSync(notes, 'utf8')).toContain(`Note ${asked.length}.`)
    lengths.push(asked.length)
  }
  const [first = 0, second = 0] = lengths
  expect(second).toBeGreaterThan(first)
  expect(asked[first]).toContain(`Note ${first}.`)
})

test('a call that names no conversation is refused', async () => {
  await using managed = everlong({ model: offline(), store, createEngine })
  await expect(managed.chat(history, {}, async () => undefined)).rejects.toThrow(/names no conversation.*sessionId/)
  expect(managed.sessions()).toEqual([])
})

test('without a store the engine on Node keeps sessions in memory, and restores from disk', async () => {
  writeFileSync(path, ['export const onlyOnDisk = 2', ...shown].join('\n'))
  await using managed = everlong({ model: offline(), redact, createEngine })
  await managed.chat(history, {}, async () => undefined)
  const [session] = managed.sessions()
  expect(session?.path).toBe(undefined)
  expect((await session?.compact())?.type).toBe('compacted')
  expect(JSON.stringify(session?.messages())).toContain('onlyOnDisk = 2')
})

test('sessions of the Claude Agent SDK have notes too', async () => {
  const managed = claudeAgent({ model: offline(), store, createEngine, projectKey: 'project' })
  const sessionId = crypto.randomUUID()
  const message = { role: 'user', content: 'Read the orders.' }
  const entry = { type: 'user', uuid: crypto.randomUUID(), parentUuid: null, sessionId, message }
  await managed.sessionStore.append({ projectKey: 'project', sessionId }, [entry])
  const session = await managed.session(sessionId)
  expect(session.explain().sessionMemory?.path).toMatch(/^.*project[^/]*\/session-memory\/summary\.md$/)
  await managed.close()
})
