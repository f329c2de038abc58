// What every dialect holds: its limits, what it reads of a request, and that it reads back the gateway's own replies.
import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { text as textFrom } from 'node:stream/consumers'
import type { JsonObject } from 'everlong/internal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Reply, writeReply } from '../levels/reply.ts'
import { type Dialect, type DialectName, maxMessages } from './dialect.ts'
import { dialectAt } from './dialects.ts'
import { eventsOf } from './events.ts'

/** With the field of a request that has its messages. */
const every: readonly (readonly [DialectName, string, string])[] = [
  ['messages', '/v1/messages', 'messages'],
  ['chat', '/v1/chat/completions', 'messages'],
  ['responses', '/v1/responses', 'input'],
]

function at(path: string): Dialect {
  const dialect = dialectAt(path)
  if (!dialect) throw new Error(path)
  return dialect
}

describe.each(every)('%s', (name, path, field) => {
  const dialect = at(path)
  const asked = (count: number) => {
    const list = Array.from({ length: count }, (_, nth) => ({
      role: nth % 2 === 0 ? 'user' : 'assistant',
      content: 'a',
    }))
    return dialect.readRequest({ model: 'm', [field]: list })
  }

  test('is found by its path, with and without a slash at the end', () => {
    expect([dialectAt(path)?.name, dialectAt(`${path}/`)?.name, dialectAt(`${path}/more`)]).toEqual([
      name,
      name,
      undefined,
    ])
  })

  test('reads as many messages as there may be, and none of one more', () => {
    expect([0, 1, maxMessages, maxMessages + 1].map((count) => asked(count)?.messages.length)).toEqual([
      undefined,
      1,
      maxMessages,
      undefined,
    ])
  })

  test('reads the model, the tools and whether it is streamed; what has another shape is left out', () => {
    const request = { [field]: [{ role: 'user', content: 'Hello.' }], model: 'm', tools: [{ name: 'a' }, 'b', null] }
    const read = (more: JsonObject) => dialect.readRequest({ ...request, ...more })
    const said = { role: 'user', content: [{ type: 'text', text: 'Hello.' }] }
    expect(read({ stream: true })).toMatchObject({
      model: 'm',
      tools: [{ name: 'a' }],
      messages: [said],
      isStreamed: true,
    })
    expect(read({ stream: 'true', model: 1, tools: 'x' })).toMatchObject({ model: '', tools: [], isStreamed: false })
    for (const list of [[null], ['a'], {}, 1, undefined]) expect(read({ [field]: list })).toBe(undefined)
  })
})

const counts = fc.nat(1_000_000)
const replies: fc.Arbitrary<Reply> = fc
  .record({
    input: counts,
    output: counts,
    cacheRead: counts,
    cacheWriteHour: counts,
    others: counts,
    text: fc.string({ minLength: 1 }),
  })
  .map(({ others, text, ...usage }) => ({
    ...{ id: 'reply_1', model: 'm', text },
    usage: { ...usage, cacheWrite: usage.cacheWriteHour + others },
  }))

async function written(name: DialectName, reply: Reply, isStreamed: boolean): Promise<readonly unknown[]> {
  let type = ''
  const outgoing = Object.assign(new PassThrough(), {
    writeHead: (_: number, headers: Readonly<Record<string, string>>) => {
      type = headers['content-type'] ?? ''
    },
  })
  writeReply({ outgoing: outgoing as unknown as ServerResponse, dialect: name, isStreamed }, reply)
  return eventsOf(Buffer.from(await textFrom(outgoing)), type)
}

describe.each([
  ['messages', at('/v1/messages'), ({ usage }: Reply) => usage],
  // Its usage does not name what was written to the cache.
  [
    'responses',
    at('/v1/responses'),
    ({ usage }: Reply) => ({ ...usage, input: usage.input + usage.cacheWrite, cacheWrite: 0, cacheWriteHour: 0 }),
  ],
] as const)('a reply of the gateway in %s', (name, dialect, usageOf) => {
  test('is read back as it was made, whole and streamed', async () => {
    await fc.assert(
      fc.asyncProperty(replies, fc.boolean(), async (reply, isStreamed) => {
        const events = await written(name, reply, isStreamed)
        expect(dialect.readAnswer(events)).toMatchObject({
          ...{ id: reply.id, model: reply.model, stopReason: 'end_turn', usage: usageOf(reply) },
          content: [{ type: 'text', text: reply.text }],
        })
        expect(dialect.readUsage(events)).toMatchObject(usageOf(reply))
      }),
    )
  })

  test('is no answer if the stream broke off', async () => {
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 5, cacheWriteHour: 4 }
    const events = await written(name, { id: 'reply_1', model: 'm', text: 'Hello.', usage }, true)
    for (let end = 0; end < events.length; end++) expect(dialect.readAnswer(events.slice(0, end))).toBe(undefined)
    expect(dialect.readAnswer(events)).toBeDefined()
  })
})
