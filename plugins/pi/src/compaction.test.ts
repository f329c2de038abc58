import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countTokens } from 'everlong'
import { expect, onTestFinished, test } from 'vitest'
import type { Sent } from './cached-prompt.ts'
import { compactForPi } from './compaction.ts'
import type { BeforeCompactEvent, SessionEntry } from './pi-api.ts'
import { assistant, branchOf, model, read, testContext, usage, user } from './testing/context.ts'

const rule = 'From now on never touch the file schema.sql.'
const long = 'The report lists every order of the month. '.repeat(200)
const branch = branchOf(
  user(`Look at the reports. ${rule}`),
  ...read('report.txt', long),
  assistant('I have read the report: the totals are in cents.'),
  user('Rename the column total to amount.'),
  assistant('Done.'),
)
const answer =
  '<analysis>x</analysis><summary>\n1. Primary request and intent:\n   The reports were read: cents.\n</summary>'

const event = (more: Partial<BeforeCompactEvent> = {}, entries = branch): BeforeCompactEvent => ({
  preparation: {
    firstKeptEntryId: 'e4',
    tokensBefore: 5_000,
    settings: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 100 },
  },
  ...{ branchEntries: entries, reason: 'manual', signal: new AbortController().signal, ...more },
})

const compacted = async (asked: ReturnType<typeof testContext>, sent?: Sent, given = event()) =>
  (await compactForPi(given, { context: asked.context, sent, recall: true }))?.compaction

test('pi gets our summary with the rules of the user, keeps what it wanted to keep, and books the usage', async () => {
  const asked = testContext({ branch, answer })
  const compaction = await compacted(asked)
  expect(compaction).toMatchObject({ firstKeptEntryId: 'e4', tokensBefore: 5_000, usage })
  expect(compaction?.summary).toContain('The reports were read: cents.')
  expect(compaction?.summary).toContain(rule)
  expect(compaction?.summary).toContain('search it with the recall tool')
  expect(compaction?.details).toMatchObject({ everlong: { compaction: { mechanism: 'direct' } } })
  expect(asked.notes).toEqual([])
})

test('without a warm cache the conversation goes as one text, shortened, and nothing is written to the cache', async () => {
  const asked = testContext({ branch, answer })
  await compacted(asked)
  const [call] = asked.calls
  const text = JSON.stringify(call?.context.messages)
  expect(asked.calls).toHaveLength(1)
  expect(call?.options).toMatchObject({ cacheRetention: 'none' })
  expect(text).toContain('characters left out')
  expect(text).not.toContain('Rename the column')
})

test('with a warm cache the request begins as the last one did', async () => {
  const llmMessages = branch.map(({ message }) => message as never)
  const contextEntries = branch.map((sourceEntry) => ({ sourceEntry, messages: [sourceEntry.message as never] }))
  const sent = { context: { llmMessages, contextEntries }, model: model.id, time: Date.now() }
  const asked = testContext({ branch, answer })
  const compaction = await compacted(asked, sent)
  expect(compaction?.details).toMatchObject({ everlong: { compaction: { mechanism: 'cache-sharing' } } })
  expect(asked.calls[0]?.context.messages.slice(0, -1)).toEqual(llmMessages.slice(0, 4))
  expect(asked.calls[0]?.options).toMatchObject({ sessionId: 's' })
})

test('a prompt that the provider has forgotten is not counted on', async () => {
  const sent = { context: { llmMessages: [], contextEntries: [] }, model: model.id, time: Date.now() - 600_000 }
  const asked = testContext({ branch, answer })
  expect((await compacted(asked, sent))?.details).toMatchObject({ everlong: { compaction: { mechanism: 'direct' } } })
})

test('when the model fails, code writes the summary', async () => {
  const asked = testContext({ branch, answer: { stopReason: 'error', errorMessage: '401 authentication_error' } })
  const compaction = await compacted(asked)
  expect(compaction?.details).toMatchObject({ everlong: { compaction: { mechanism: 'offline' } } })
  expect(compaction?.summary).toContain(rule)
})

test('what pi names may be a note that no model sees: the next message is the first one kept', async () => {
  const noted: readonly SessionEntry[] = [
    ...branch.slice(0, 4),
    { type: 'model_change', id: 'n', parentId: 'e3', provider: 'x', modelId: 'y' },
    { ...(branch[4] as SessionEntry), parentId: 'n' },
    ...branch.slice(5),
  ]
  const given = event({ preparation: { ...event().preparation, firstKeptEntryId: 'n' } }, noted)
  expect(await compacted(testContext({ branch: noted, answer }), undefined, given)).toMatchObject({
    firstKeptEntryId: 'e4',
  })
})

test('a conversation that cannot be made smaller is left to pi, and the person is told', async () => {
  const short = branchOf(user('Hi.'), assistant('Hello.'), user('Bye.'), assistant('Bye.'))
  const preparation = { ...event().preparation, firstKeptEntryId: 'e2' }
  const asked = testContext({ branch: short, answer })
  expect(await compacted(asked, undefined, event({ preparation }, short))).toBe(undefined)
  expect(asked.notes).toEqual([expect.stringContaining('Everlong did not compact, so pi does')])
})

test('an aborted compaction says nothing', async () => {
  const stopped = new AbortController()
  stopped.abort()
  const asked = testContext({ branch, answer: { stopReason: 'aborted' } })
  expect(await compacted(asked, undefined, event({ signal: stopped.signal }))).toBe(undefined)
  expect(asked.notes).toEqual([])
})

test.for([
  [20_000, 2_000],
  [100_000, 10_000],
  [200_000, 20_000],
])('in a window of %d at most %d tokens of files are restored', async ([contextWindow = 0, limit = 0]) => {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-pi-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const files = Array.from({ length: 20 }, (_, at) => join(folder, `file-${at}.txt`))
  const text = (at: number) => `Line of file ${at}, with an order number.\n`.repeat(1_200)
  for (const [at, path] of files.entries()) writeFileSync(path, text(at))
  const entries = branchOf(
    user('Read them all.'),
    ...files.flatMap((path, at) => read(path, text(at))),
    user('Go on.'),
    assistant('Done.'),
  )
  const asked = testContext({ branch: entries, answer })
  const context = { ...asked.context, model: { ...model, contextWindow } }
  const preparation = { ...event().preparation, firstKeptEntryId: entries.at(-2)?.id ?? '', tokensBefore: 900_000 }
  const compaction = await compacted({ ...asked, context }, undefined, event({ preparation }, entries))
  const restored = (compaction?.summary ?? '').split('\n').filter((line) => line.includes('with an order number'))
  const tokens = countTokens([{ role: 'user', content: restored.join('\n') }], { model: model.id })
  expect(tokens).toBeLessThanOrEqual(limit)
  expect(tokens).toBeGreaterThan(limit / 2)
})
