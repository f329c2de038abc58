import { expect, test } from 'vitest'
import everlong from './main.ts'
import type { BeforeCompactEvent, Pi } from './pi-api.ts'
import { assistant, branchOf, read, testContext, user } from './testing/context.ts'

/** What the extension registers, and what it says when a session starts. */
function loadedInto(more: Partial<Pi>) {
  const [registered, said]: [string[], string[]] = [[], []]
  const context = { hasUI: true, ui: { notify: (text: string) => said.push(text), setStatus: () => undefined } }
  const pi = {
    on: (name: string, run: (event: unknown, context: unknown) => unknown) => {
      registered.push(name)
      if (name === 'session_start' && !('getSettings' in more)) run({}, context)
    },
    registerTool: () => registered.push('a tool'),
    registerCommand: () => registered.push('a command'),
    getActiveTools: () => [],
    ...more,
  }
  everlong(pi as unknown as Pi)
  return { registered, said }
}

test('a pi that is too old is told apart once, and nothing else is registered in it', () => {
  expect(loadedInto({})).toEqual({
    registered: ['session_start'],
    said: ['Everlong is not active: it needs pi 1.5 or later.'],
  })
})

test('a newer one gets the tool, the command and every event', () => {
  const { registered, said } = loadedInto({ getSettings: () => ({}) })
  expect([registered.slice(0, 3), said]).toEqual([['a tool', 'a command', 'session_start'], []])
  expect(registered).toHaveLength(11)
})

/** A pi that has made one turn and compacts after these events. Returns the request for the summary. */
async function summaryAfter(...events: readonly string[]) {
  const branch = branchOf(
    ...[user('Look.'), ...read('a.txt', 'orders '.repeat(2_000)), assistant('There are orders.')],
    ...[user('Rename it.'), assistant('Done.')],
  )
  const { context, calls } = testContext({ branch, answer: '<summary>\n1. The orders were read.\n</summary>' })
  const handlers = new Map<string, (event: unknown, context: unknown) => unknown>()
  const on = (name: string, run: (event: unknown, context: unknown) => unknown) => handlers.set(name, run)
  loadedInto({ on: on as Pi['on'], getSettings: () => ({}) })
  const tell = (name: string, event: object = {}) => handlers.get(name)?.(event, context)
  const llmMessages = branch.map(({ message }) => message)
  const contextEntries = branch.map((sourceEntry) => ({ sourceEntry, messages: [sourceEntry.message] }))
  await tell('turn_end', {
    context: { llmMessages, contextEntries },
    entries: [],
    toolResults: [],
    outcome: 'completed',
  })
  for (const name of events) await tell(name)
  const settings = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 100 }
  const preparation = { firstKeptEntryId: branch.at(-2)?.id ?? '', tokensBefore: 5_000, settings }
  const event: BeforeCompactEvent = {
    ...{ branchEntries: branch, preparation, reason: 'manual' },
    signal: new AbortController().signal,
  }
  await tell('session_before_compact', event)
  return calls[0]
}

test('a compaction after a turn reads the prompt of that turn from the cache', async () => {
  const asked = await summaryAfter('agent_settled')
  expect(asked?.options).toMatchObject({ sessionId: 's' })
  expect(asked?.context.messages.length).toBeGreaterThan(1)
})

test.each(['session_compact', 'session_tree', 'session_start'])(
  'after %s the last prompt is none of this context',
  async (name) => {
    const asked = await summaryAfter(name)
    expect(asked?.options).toMatchObject({ cacheRetention: 'none' })
    expect(asked?.context.messages).toHaveLength(1)
  },
)
