import { describe, expect, test } from 'vitest'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { createConversations } from './conversations.ts'
import { type Plain, plainConverter } from './testing/plain-converter.ts'

const engine = createEngine({ model: offline(), environment: {} })
const starting = () => ({ client: engine.model, model: engine.model.model })
const user = (text: string): Plain => ({ role: 'user', text })
const assistant = (text: string): Plain => ({ role: 'assistant', text })

function conversations(max?: number) {
  const all = createConversations<Plain>({ converter: plainConverter, start: () => engine.start(), max })
  return { ...all, of: (messages: readonly Plain[], id?: string) => all.of(messages, id, starting) }
}

describe('a call', () => {
  test('that continues a history belongs to its conversation', async () => {
    const all = conversations()
    const first = await all.of([user('hi')])
    await first.prepare([user('hi')])
    expect(await all.of([user('hi'), assistant('hello'), user('go on')])).toBe(first)
  })

  test('of somebody else who began alike gets a conversation of its own', async () => {
    const all = conversations()
    const first = await all.of([user('hi')])
    await first.prepare([user('hi'), assistant('hello, Ann'), user('go on')])
    const other = await all.of([user('hi')])
    expect(other).not.toBe(first)
    await other.prepare([user('hi'), assistant('hello, Bob'), user('go on')])
    expect(JSON.stringify([...(await other.session.entries())])).not.toContain('Ann')
    expect(await all.of([user('hi'), assistant('hello, Ann'), user('go on'), assistant('yes')])).toBe(first)
  })

  test('that comes while another is on its way does not take its place', async () => {
    const all = conversations()
    const [first, other] = await Promise.all([all.of([user('one')]), all.of([user('two')])])
    expect(first).not.toBe(other)
  })

  test('with an id belongs to that conversation, whatever it says', async () => {
    const all = conversations()
    const [first, again, other] = await Promise.all([
      all.of([user('a')], '1'),
      all.of([user('b')], '1'),
      all.of([], '2'),
    ])
    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })

  test('belongs to the session that the host gave, which the host closes', async () => {
    const session = await engine.start()
    const all = createConversations<Plain>({ converter: plainConverter, session, start: () => engine.start() })
    const history = await all.of([user('a')], undefined, starting)
    expect(history.session).toBe(session)
    expect(await all.of([user('b')], undefined, starting)).toBe(history)
    await all.close()
    await history.prepare([user('a')])
    expect(session.messages()).toHaveLength(1)
  })

  test('closes the conversation that was not used for longest when there are too many', async () => {
    const all = conversations(2)
    const first = await all.of([], '1')
    await all.of([], '2')
    await all.of([], '1')
    await all.of([], '3')
    expect(all.all()).toHaveLength(2)
    expect(await all.of([], '1')).toBe(first)
  })
})
