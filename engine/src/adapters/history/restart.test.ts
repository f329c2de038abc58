// A host that stores only what was sent to the model, and a new process: the conversation continues from there.
import { expect, test } from 'vitest'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { memorySessions } from '../../stores/memory.ts'
import { ManagedHistory } from './managed-history.ts'
import { type Plain, plainConverter } from './testing/plain-converter.ts'

const rules = ['Never touch the migration.', 'Always answer in one sentence.']
const fact = 'The staging server is at port 4711.'
const user = (text: string): Plain => ({ role: 'user', text })
const answer: Plain = { role: 'assistant', text: 'Done.' }
const turns = (life: number) => Array.from({ length: 5 }, (_, at) => `Life ${life}, turn ${at}: look at it.`)

/** A new process without any memory. Sessions live as long as the store. */
async function started(store = memorySessions()): Promise<ManagedHistory<Plain>> {
  const settings = { contextWindow: 40_000, autoCompactAt: 10_000, keep: 2 }
  const engine = createEngine({ model: offline(), environment: {}, settings, store })
  return new ManagedHistory({ converter: plainConverter, session: await engine.open('one', { ifMissing: 'start' }) })
}

/** A loop that keeps only the last request. It ends before the last answer arrives. */
async function converse(history: ManagedHistory<Plain>, stored: readonly Plain[], texts: readonly string[]) {
  let compactions = 0
  let messages = stored
  for (const [at, text] of texts.entries()) {
    messages = [...messages, ...(at === 0 ? [] : [answer]), user(`${text} ${'More about it. '.repeat(700)}`)]
    const prepared = await history.prepare(messages)
    if (prepared.outcome.compaction) compactions++
    messages = prepared.messages
  }
  await history.close()
  return { messages, compactions }
}

async function entriesOf({ session }: ManagedHistory<Plain>) {
  return [...(await session.entries())].map(({ record }) => record)
}

test('life after life, the user’s rules and facts are in the context', async () => {
  let stored: readonly Plain[] = []
  for (let life = 0; life < 4; life++) {
    const said = life === 0 ? [...rules, fact, ...turns(life)] : turns(life)
    const { messages, compactions } = await converse(await started(), stored, said)
    expect(compactions).toBeGreaterThan(0)
    const text = JSON.stringify(messages)
    expect([...rules, fact].filter((words) => !text.includes(words))).toEqual([])
    stored = [...messages, answer]
  }
})

test('what a new process is handed comes back as it is, and its summary is known to be one', async () => {
  const { messages } = await converse(await started(), [], [...rules, ...turns(0)])
  const history = await started()
  const given = [...messages, answer, user('Go on.')]
  const { messages: sent } = await history.prepare(given)
  expect(sent).toHaveLength(given.length)
  for (const [at, message] of sent.entries()) expect(message).toBe(given[at])
  const origins = history.session.messages().map(({ origin }) => origin)
  expect(origins[0]).toBe('summary')
  expect(origins.slice(1)).not.toContain('summary')
})

test('a context that the session does not know replaces the one it has', async () => {
  const { messages } = await converse(await started(), [], [...rules, ...turns(0)])
  const store = memorySessions()
  await converse(await started(store), [], ['Another conversation.'])
  const history = await started(store)
  const given = [...messages, answer, user('Go on.')]
  expect((await history.prepare(given)).messages).toEqual(given)
  expect(JSON.stringify(history.session.messages())).not.toContain('Another conversation.')
})

test('a session that is opened again knows the context that it wrote: nothing is written twice', async () => {
  const store = memorySessions()
  const { messages } = await converse(await started(store), [], [...rules, ...turns(0)])
  const opened = await started(store)
  const before = await entriesOf(opened)
  await opened.close()
  const history = await started(store)
  const given = [...messages, answer, user('Go on.')]
  expect((await history.prepare(given)).messages).toEqual(given)
  const fresh = (await entriesOf(history)).slice(before.length)
  expect(fresh.filter(({ type }) => type === 'user' || type === 'assistant')).toHaveLength(2)
})

test('a host that did not get to store the newest context continues from the one before', async () => {
  const store = memorySessions()
  const { messages } = await converse(await started(store), [], [...rules, ...turns(0)])
  const given = [...messages, answer, user('Go on.')]
  const { messages: lost } = await converse(await started(store), given, turns(1))
  expect(lost[0]).not.toEqual(given[0])
  const history = await started(store)
  expect((await history.prepare(given)).messages).toEqual(given)
  expect(JSON.stringify(history.session.messages())).not.toContain('Life 1')
})
