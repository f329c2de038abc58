// A person calls undo() on a session that follows the history of an SDK. It does not undo rewinds and clears of the adapter.
import { expect, test } from 'vitest'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { memorySessions } from '../../stores/memory.ts'
import { ManagedHistory } from './managed-history.ts'
import { type Plain, plainConverter } from './testing/plain-converter.ts'

const nothing = { type: 'nothing-to-undo' }
const user = (text: string): Plain => ({ role: 'user', text })
const assistant = (text: string): Plain => ({ role: 'assistant', text })
const long = (text: string): Plain => user(`${text} ${'More about it. '.repeat(700)}`)

/** Opens the same session every time, as adapters do for an id. */
async function opened(store = memorySessions()): Promise<ManagedHistory<Plain>> {
  const engine = createEngine({
    model: offline(),
    environment: {},
    store,
    settings: { contextWindow: 200_000, keep: 2 },
  })
  const open = () => engine.open('one', { ifMissing: 'start' })
  return new ManagedHistory({ converter: plainConverter, session: await open(), restart: open })
}

async function sentFor(history: ManagedHistory<Plain>, messages: readonly Plain[]): Promise<readonly Plain[]> {
  return (await history.prepare(messages)).messages
}

const first = [user('first'), assistant('yes')]
const lost = [...first, user('lost')]
const instead = [...first, user('instead')]
const next = [...instead, assistant('ok'), user('next')]

/** Ten questions with answers, compacted by hand before the last question. */
async function compacted(history: ManagedHistory<Plain>): Promise<readonly Plain[]> {
  const messages = Array.from({ length: 10 }, (_, at) => [long(`Question ${at}.`), assistant(`Answer ${at}.`)]).flat()
  await sentFor(history, messages.slice(0, -1))
  expect((await history.session.compact()).type).toBe('compacted')
  return messages
}

test('undo() does not bring back a failed message that was replaced', async () => {
  const history = await opened()
  await sentFor(history, lost)
  await sentFor(history, instead)
  expect(await history.session.undo()).toEqual(nothing)
  expect(await history.session.undo()).toEqual(nothing)
  expect(await sentFor(history, next)).toEqual(next)
})

test('undo() does not bring back a replaced history', async () => {
  const history = await opened()
  await sentFor(history, lost)
  const other = [user('topic B')]
  expect(await sentFor(history, other)).toEqual(other)
  expect(await history.session.undo()).toEqual(nothing)
  const more = [...other, assistant('B'), user('B2')]
  expect(await sentFor(history, more)).toEqual(more)
})

test('undo() leaves alone a compaction of a history that was replaced later', async () => {
  const history = await opened()
  await compacted(history)
  await sentFor(history, first)
  expect(await history.session.undo()).toEqual(nothing)
  expect(await sentFor(history, next)).toEqual(next)
})

test('undo() takes back the compaction before a rewind of the adapter, and then nothing', async () => {
  const history = await opened()
  const messages = await compacted(history)
  await sentFor(history, [...messages, user('lost')])
  const given = [...messages, user('instead')]
  const reduced = await sentFor(history, given)
  expect(reduced.length).toBeLessThan(given.length)
  expect(await history.session.undo()).toMatchObject({ type: 'undone', change: { type: 'compaction' } })
  expect(await sentFor(history, given)).toEqual(given)
  expect(await history.session.undo()).toEqual(nothing)
})

test('an undone compaction stays undone when the next message fails and is replaced', async () => {
  const history = await opened()
  const messages = await compacted(history)
  await sentFor(history, messages)
  expect(await history.session.undo()).toMatchObject({ type: 'undone', change: { type: 'compaction' } })
  await sentFor(history, [...messages, user('lost')])
  const given = [...messages, user('instead')]
  expect(await sentFor(history, given)).toEqual(given)
})

test('edits of a person stay when the message after them is replaced, and the next undo() takes them back', async () => {
  const history = await opened()
  const told = [...first, long('secret'), assistant('noted')]
  await sentFor(history, told)
  const [, , from, to] = history.session.messages()
  const range = { from: from?.uuid ?? '', to: to?.uuid ?? '', marker: '[gone]' }
  expect(await history.session.snip(range)).toMatchObject({ type: 'done' })
  await sentFor(history, [...told, user('lost')])
  const given = [...told, user('instead')]
  expect(JSON.stringify(await sentFor(history, given))).not.toContain('secret')
  expect(await history.session.undo()).toMatchObject({ type: 'undone', change: { type: 'drop-range' } })
  expect(await sentFor(history, given)).toEqual(given)
})

test('undo() takes back a rewind of a person only while the caller still has those messages', async () => {
  const history = await opened()
  await sentFor(history, next)
  const [, yes] = history.session.messages()
  await history.session.rewind(yes?.uuid ?? '')
  expect(await history.session.undo()).toMatchObject({ type: 'undone', change: { type: 'rewind' } })
  expect(await sentFor(history, next)).toEqual(next)
  await history.session.rewind(yes?.uuid ?? '')
  expect(await sentFor(history, lost)).toEqual(lost)
  expect(await history.session.undo()).toEqual(nothing)
  expect(await sentFor(history, lost)).toEqual(lost)
})

test('undo() does not take back a clear of a person after the caller began another history', async () => {
  const history = await opened()
  await sentFor(history, first)
  await history.session.clear()
  const other = [user('topic B')]
  await sentFor(history, other)
  expect(await history.session.undo()).toEqual(nothing)
  expect(await sentFor(history, other)).toEqual(other)
})

test('a session that is opened again knows which rewinds were the adapter’s', async () => {
  const store = memorySessions()
  const before = await opened(store)
  await sentFor(before, lost)
  await sentFor(before, instead)
  await before.close()
  const after = await opened(store)
  expect(await after.session.undo()).toEqual(nothing)
  expect(await sentFor(after, next)).toEqual(next)
  expect(await after.session.undo()).toEqual(nothing)
  expect(await sentFor(after, next)).toEqual(next)
  await after.close()
})

test('a context of another process that was imported is no compaction to undo', async () => {
  const store = memorySessions()
  const other = await opened()
  const messages = await compacted(other)
  const context = await sentFor(other, [...messages, user('go on')])
  const before = await opened(store)
  await sentFor(before, first)
  await before.close()
  const history = await opened(store)
  expect(await sentFor(history, context)).toEqual(context)
  expect(await history.session.undo()).toEqual(nothing)
  expect(await sentFor(history, context)).toEqual(context)
})
