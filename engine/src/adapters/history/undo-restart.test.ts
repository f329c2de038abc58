// A person's edits in a session that follows the history of an SDK, with and without a new process before the next call: the
// result is the same.
import { expect, test } from 'vitest'
import type { Session } from '../../core/session/session-api.ts'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { memorySessions } from '../../stores/memory.ts'
import { ManagedHistory } from './managed-history.ts'
import { type Plain, plainConverter } from './testing/plain-converter.ts'

const user = (text: string): Plain => ({ role: 'user', text })
const assistant = (text: string): Plain => ({ role: 'assistant', text })
const long = (text: string): Plain => user(`${text} ${'More about it. '.repeat(700)}`)

async function opened(store = memorySessions()): Promise<ManagedHistory<Plain>> {
  const settings = { contextWindow: 200_000, keep: 2 } as const
  const engine = createEngine({ model: offline(), environment: {}, store, settings })
  const open = () => engine.open('one', { ifMissing: 'start' })
  return new ManagedHistory({ converter: plainConverter, session: await open(), restart: open })
}

const first = [user('first'), assistant('yes'), long('second'), assistant('well'), user('third'), assistant('right')]
const uuidAt = (session: Session, at: number) => session.messages()[at]?.uuid ?? ''

/** Actions of a person between two calls. */
const actions: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  clear: (session) => session.clear(),
  compact: (session) => session.compact(),
  snip: (session) => session.snip({ from: uuidAt(session, 2), to: uuidAt(session, 2), marker: '[gone]' }),
  rewind: (session) => session.rewind(uuidAt(session, 1)),
  'clear and undo': async (session) => {
    await session.clear()
    await session.undo()
  },
}

/** The caller's messages after that. */
const continued = [...first, user('next')]
const calls: Readonly<Record<string, readonly (readonly Plain[])[]>> = {
  'the next message': [continued],
  'two more messages': [continued, [...continued, assistant('ok'), user('and on')]],
  'a message instead of the last': [[...first.slice(0, -2), user('instead')]],
  'a message that replaces a failed one': [
    [...first, user('lost')],
    [...first, user('instead')],
  ],
}

async function played(action: string, given: readonly (readonly Plain[])[], isRestarted: boolean) {
  const store = memorySessions()
  let history = await opened(store)
  await history.prepare(first.slice(0, -1))
  await history.prepare([...first, user('before')])
  await history.prepare([...first, user('before'), assistant('aha')])
  await actions[action]?.(history.session)
  const restart = async () => {
    if (!isRestarted) return
    await history.close()
    history = await opened(store)
  }
  const seen: (readonly string[] | string)[] = []
  const call = async (messages: readonly Plain[]) => {
    await restart()
    const { messages: sent } = await history.prepare(messages)
    seen.push(sent.map(({ role, text }) => `${role}: ${text?.slice(0, 400)}`))
  }
  const own = (messages: readonly Plain[]) => [
    ...messages.slice(0, 6),
    user('before'),
    assistant('aha'),
    ...messages.slice(6),
  ]
  const all = given.map((messages) => (messages.length > 6 ? own(messages) : messages))
  for (const messages of all) await call(messages)
  await restart()
  // Nothing is known of the history before the first call of a process.
  if (isRestarted) await history.prepare(all.at(-1) ?? [])
  const undone = await history.session.undo()
  seen.push(undone.type === 'undone' ? undone.change.type : undone.type)
  await call([...(all.at(-1) ?? []), assistant('done'), user('last')])
  return seen
}

for (const action of Object.keys(actions))
  for (const [name, given] of Object.entries(calls))
    test(`after ${action} and ${name}, undo() does the same in a new process, and nothing is there twice`, async () => {
      const seen = await played(action, given, true)
      expect(seen).toEqual(await played(action, given, false))
      for (const sent of seen) if (typeof sent !== 'string') expect(new Set(sent).size).toBe(sent.length)
    })

for (const action of Object.keys(actions))
  test(`${action} by a person stays when the next message fails and is replaced`, async () => {
    const [failed, again] = await played(action, calls['a message that replaces a failed one'] ?? [], false)
    if (!Array.isArray(failed)) throw new Error(String(failed))
    expect(again).toEqual(failed.with(-1, 'user: instead'))
  })
