import { describe, expect, test } from 'vitest'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { HistoryMismatchError, ManagedHistory } from './managed-history.ts'
import { type Plain, plainConverter } from './testing/plain-converter.ts'

const engine = createEngine({ model: offline(), environment: {} })
const small = createEngine({ model: offline(), environment: {}, settings: { contextWindow: 40_000, keep: 2 } })

async function started(from = engine): Promise<ManagedHistory<Plain>> {
  return new ManagedHistory({ converter: plainConverter, session: await from.start(), restart: () => from.start() })
}

const system: Plain = { role: 'system', text: 'Be brief.' }
const user = (text: string): Plain => ({ role: 'user', text })
const assistant = (text: string, ...calls: string[]): Plain => ({ role: 'assistant', text, calls })
const results = (...ids: string[]): Plain => ({ role: 'tool', results: ids.map((id) => ({ id, text: `of ${id}` })) })

/** The messages that the session would send, one text each. */
function shown({ session }: ManagedHistory<Plain>): readonly string[] {
  return session.messages().map(({ role, content }) => `${role}: ${JSON.stringify(content)}`)
}

function texts({ session }: ManagedHistory<Plain>): readonly string[] {
  return shown({ session } as ManagedHistory<Plain>).map((line) => line.replace(/^(\w).*?"text":"([^"]*)".*$/, '$1 $2'))
}

describe('a history', () => {
  test('comes back as the very objects while nothing has to change', async () => {
    const history = await started()
    const messages = [system, user('one'), assistant('I look', 'a', 'b'), results('a', 'b'), user('go on')]
    const { messages: sent, outcome } = await history.prepare(messages)
    expect(outcome.type).toBe('ready')
    expect(sent).toHaveLength(messages.length)
    for (const [at, message] of sent.entries()) expect(message).toBe(messages[at])
  })

  test('is not changed, and only new messages are added', async () => {
    const history = await started()
    const first = Object.freeze([user('one')])
    await history.prepare(first)
    const second = Object.freeze(
      [user('one'), assistant('two'), user('three')].map((message) => Object.freeze(message)),
    )
    const { messages: sent } = await history.prepare(second)
    expect(texts(history)).toEqual(['u one', 'a two', 'u three'])
    for (const [at, message] of sent.entries()) expect(message).toBe(second[at])
  })

  test('records the answer to the last request with the usage that was reported', async () => {
    const history = await started()
    await history.prepare([user('one')])
    history.reportUsage({ input: 700, output: 30, cacheRead: 200, cacheWrite: 100, cacheWriteHour: 0 })
    await history.prepare([user('one'), assistant('two'), user('three')])
    expect(history.session.messages()[1]?.usage).toEqual({
      input: 700,
      output: 30,
      cacheRead: 200,
      cacheWrite: 100,
      cacheWriteHour: 0,
    })
    expect(history.session.explain().size.tokens).toBeGreaterThan(1_030)
    expect(history.session.spent().turn.usage.input).toBe(700)
  })

  test('with other options on old messages is the same history, and the newest objects are sent', async () => {
    const history = await started()
    await history.prepare([user('one')])
    const marked = { ...user('one'), options: 'cache' }
    const { messages: sent } = await history.prepare([marked, assistant('two'), user('three')])
    expect(sent[0]).toBe(marked)
    expect(texts(history)).toEqual(['u one', 'a two', 'u three'])
  })

  test('that was cut back rewinds the session', async () => {
    const history = await started()
    await history.prepare([user('one'), assistant('two'), user('three'), assistant('four'), user('five')])
    await history.prepare([user('one'), assistant('two'), user('three')])
    expect(texts(history)).toEqual(['u one', 'a two', 'u three'])
  })

  test('with a changed message continues from the common beginning', async () => {
    const history = await started()
    await history.prepare([user('one'), assistant('two'), user('three')])
    const { id } = history.session
    await history.prepare([user('one'), assistant('two'), user('other'), assistant('four'), user('five')])
    expect(texts(history)).toEqual(['u one', 'a two', 'u other', 'a four', 'u five'])
    expect(history.session.id).toBe(id)
  })

  test('that was put together differently is the same history', async () => {
    const history = await started()
    const calls: Plain = { role: 'assistant', calls: ['c'] }
    const steps = [user('one'), assistant('I look', 'a', 'b'), results('a', 'b'), calls, results('c')]
    await history.prepare(steps)
    const merged = [user('one'), assistant('I look', 'a', 'b', 'c'), results('a', 'b', 'c')]
    const { messages: sent } = await history.prepare([...merged, assistant('done'), user('two')])
    expect(sent).toEqual([...steps, assistant('done'), user('two')])
    const again = await history.prepare([...merged, assistant('done'), user('two'), assistant('yes'), user('three')])
    expect(again.messages).toHaveLength(9)
    expect([...(await history.session.entries())].filter(({ record }) => record.type === 'user')).toHaveLength(5)
  })

  test('that was put together differently is the same history, also where it says the same thing twice', async () => {
    const history = await started()
    const steps = [
      user('one'),
      assistant('I look', 'a', 'b'),
      results('a', 'b'),
      assistant('I look', 'c'),
      results('c'),
    ]
    await history.prepare(steps)
    const regrouped = [user('one'), assistant('I look', 'a'), assistant('I look', 'b', 'c'), results('a', 'b', 'c')]
    const { messages: sent } = await history.prepare([...regrouped, assistant('done'), user('two')])
    expect(sent).toEqual([...steps, assistant('done'), user('two')])
  })

  test('with another beginning gets a new session', async () => {
    const history = await started()
    await history.prepare([user('one'), assistant('two'), user('three')])
    const { id } = history.session
    await history.prepare([user('zero')])
    expect(texts(history)).toEqual(['u zero'])
    expect(history.session.id).not.toBe(id)
  })

  test('with another beginning gets a session that counts the same system prompt', async () => {
    const history = await started()
    const base = { system: 'Be brief. '.repeat(1_000) }
    await history.prepare([user('one')], { base })
    const { tokens } = history.session.explain().size
    expect(tokens).toBeGreaterThan(2_000)
    await history.prepare([user('zero')], { base })
    expect(history.session.explain().size.tokens).toBe(tokens)
  })

  test('with another beginning gets a session for the model of this call, not for that of the first', async () => {
    const history = await started()
    const model = (name: string) => ({ name, client: offline() })
    await history.prepare([user('one')], { model: model('claude-sonnet-4-5') })
    await history.prepare([user('one')], { model: model('gpt-4o') })
    expect(history.session.explain().model).toBe('gpt-4o')
    await history.prepare([user('zero')], { model: model('gpt-4o') })
    expect(history.session.explain().model).toBe('gpt-4o')
  })

  test('with another beginning is refused where the host gave the session', async () => {
    const history = new ManagedHistory({ converter: plainConverter, session: await engine.start() })
    await history.prepare([user('one')])
    await expect(history.prepare([user('zero')])).rejects.toThrow(HistoryMismatchError)
  })

  test('that two calls hand over at once is added once', async () => {
    const history = await started()
    const messages = [user('one')]
    const all = await Promise.all([
      history.prepare(messages),
      history.prepare([...messages, assistant('two'), user('three')]),
    ])
    expect(all.map(({ messages: sent }) => sent.length)).toEqual([1, 3])
    expect(texts(history)).toEqual(['u one', 'a two', 'u three'])
  })

  test('is known when the session is opened again', async () => {
    const session = await engine.start()
    const messages = [user('one'), assistant('I look', 'a'), results('a'), assistant('done'), user('go on')]
    await new ManagedHistory({ converter: plainConverter, session }).prepare(messages)
    const again = new ManagedHistory({ converter: plainConverter, session })
    const { messages: sent } = await again.prepare([...messages, assistant('yes'), user('more')])
    expect(sent).toHaveLength(7)
    expect(texts(again).filter((line) => line === 'u one')).toHaveLength(1)
    await new ManagedHistory({ converter: plainConverter, session }).prepare([messages[0] as Plain, assistant('other')])
    expect(texts(again)).toEqual(['u one', 'a other'])
  })
})

const rule = 'Never touch the migration.'
const lines = (at: number): string =>
  Array.from({ length: 200 }, (_, line) => `${at}.${line} nothing unusual`).join('\n')
const round = (at: number): readonly Plain[] => [
  assistant(`Step ${at}`, `call_${at}`),
  { role: 'tool', results: [{ id: `call_${at}`, text: lines(at) }] },
]

/** Hands over one round more each time, as a loop does. */
async function looped(history: ManagedHistory<Plain>, rounds: number) {
  let messages: readonly Plain[] = [system, user(rule)]
  let { messages: sent } = await history.prepare(messages)
  for (let at = 0; at < rounds; at++) {
    messages = [...messages, ...round(at)]
    sent = (await history.prepare(messages)).messages
  }
  return { messages, sent }
}

describe('a history that is too long', () => {
  test('is reduced, what is left of it comes back as it was, and the rules stay', async () => {
    const history = await started(small)
    const { messages, sent } = await looped(history, 30)
    expect(sent[0]).toBe(system)
    expect(JSON.stringify(sent).length).toBeLessThan(JSON.stringify(messages).length / 2)
    expect(JSON.stringify(sent)).toContain(rule)
    expect(sent.at(-1)).toBe(messages.at(-1))
    expect(sent.at(-2)).toBe(messages.at(-2))
  })

  test('may be continued from what was sent as well as from the whole', async () => {
    const history = await started(small)
    const { messages, sent } = await looped(history, 30)
    const added = [assistant('Next'), user('and now?')]
    const { messages: carried } = await history.prepare([...sent, ...added])
    expect(carried.slice(-2)).toEqual(added)
    expect(carried.slice(0, -2)).toEqual(sent)
    const { messages: whole } = await history.prepare([...messages, ...added, assistant('Last'), user('bye')])
    expect(whole.slice(0, -2)).toEqual(carried)
  })

  test('goes back to the originals when the host changes what was sent', async () => {
    const history = await started(small)
    const { sent } = await looped(history, 30)
    const { messages: changed } = await history.prepare([...sent.slice(0, -2), user('stop')])
    expect(changed.at(-1)).toEqual(user('stop'))
    expect(JSON.stringify(changed)).not.toContain('call_29')
    expect(JSON.stringify(changed)).toContain(rule)
  })
})

describe('a call', () => {
  const overflow = Object.assign(new Error('prompt is too long: 41000 tokens > 40000 maximum'), { statusCode: 400 })
  const long = [user(rule), ...Array.from({ length: 30 }, (_, at) => round(at)).flat()]

  test('that was too long is sent once more, smaller', async () => {
    const history = await started(createEngine({ model: offline(), environment: {} }))
    const sizes: number[] = []
    const answer = await history.run(long, {}, async ({ messages }) => {
      sizes.push(JSON.stringify(messages).length)
      if (sizes.length === 1) throw overflow
      return 'fine'
    })
    expect(answer).toBe('fine')
    expect(sizes[1]).toBeLessThan(sizes[0] ?? 0)
  })

  test('that is too long again throws the first error', async () => {
    const history = await started(createEngine({ model: offline(), environment: {} }))
    let count = 0
    const sent = history.run(long, {}, async () => {
      count++
      throw count === 1 ? overflow : Object.assign(new Error('prompt is too long'), { statusCode: 400 })
    })
    await expect(sent).rejects.toBe(overflow)
    expect(count).toBe(2)
  })

  test('that fails for another reason throws that error as it is, at once', async () => {
    const history = await started(createEngine({ model: offline(), environment: {} }))
    const limited = Object.assign(new Error('rate limit: too many tokens per minute'), { status: 429 })
    let count = 0
    const sent = history.run(long, {}, async () => {
      count++
      throw limited
    })
    await expect(sent).rejects.toBe(limited)
    expect(count).toBe(1)
  })

  test('that got no answer is followed by what was said instead', async () => {
    const history = await started(createEngine({ model: offline(), environment: {} }))
    await history.prepare([user('one')])
    await history.prepare([user('one'), user('two'), assistant('three'), user('four')])
    expect(texts(history)).toEqual(['u one', 'a three', 'u four'])
    expect(JSON.stringify(history.session.messages()[0])).toContain('two')
  })
})
