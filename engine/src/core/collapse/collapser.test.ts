import { expect, test } from 'vitest'
import { session, textBlock } from '../../testing/index.ts'
import { viewOf } from '../mechanisms/testing/examples.ts'
import type { ModelClient } from '../ports/model.ts'
import { createTestWorld, scripted } from '../session/testing/world.ts'
import { Collapser } from './collapse.ts'

/** Five finished spans, each worth its own summary, and one unfinished span. */
const view = viewOf(
  ['a', 'b', 'c', 'd', 'e', 'f'].reduce(
    (written, name) =>
      written.user(`Look into ${name}. ${'lorem ipsum '.repeat(2_000)}`).assistant([textBlock('Done.')]),
    session(),
  ).records,
)

/** The session of a collapser. It is nearly full until the test empties it. */
function sessionOf(model: ModelClient) {
  const world = createTestWorld({ model, settings: { contextWindow: 40_000 } })
  const { conversation, gauge } = world.runtime
  const { explanation } = gauge
  let tokens = 30_000
  gauge.explanation = () => ({ ...explanation(), size: { ...explanation().size, tokens } })
  const empty = () => {
    tokens = 10
  }
  return { runtime: { ...world.runtime, conversation: { ...conversation, view: () => view } }, empty }
}

test('three failures in a row end it, and a compaction begins anew', async () => {
  const client = scripted(() => '')
  const { runtime } = sessionOf(client)
  const collapser = new Collapser()
  const look = async () => {
    collapser.afterAnswer(runtime)
    await collapser.idle()
    return client.requests.length
  }
  expect([await look(), await look()]).toEqual([3, 3])
  collapser.afterCompaction()
  expect(await look()).toBe(6)
  expect(collapser.staged()).toEqual([])
})

test('secrets that the model repeats are replaced', async () => {
  const { runtime } = sessionOf(scripted(() => 'Used DB_PASSWORD=hunter2hunter2 and Zq81-0042.'))
  const redact = (text: string) => text.replaceAll('Zq81-0042', '[key]')
  const collapser = new Collapser()
  collapser.afterAnswer({ ...runtime, ports: { ...runtime.ports, redact } })
  await collapser.idle()
  const [staged] = collapser.staged()
  expect(staged?.text).toContain('What was done:\nUsed DB_PASSWORD=[redacted] and [key].')
})

test('what was staged while a compaction came has no place any more', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const client = scripted(() => 'In short.')
  const waiting: ModelClient = {
    ...client,
    send: async (request, options) => {
      await promise
      return client.send(request, options)
    },
  }
  const { runtime, empty } = sessionOf(waiting)
  const collapser = new Collapser()
  collapser.afterAnswer(runtime)
  collapser.afterCompaction()
  empty()
  resolve()
  await collapser.idle()
  expect([client.requests.length, collapser.staged()]).toEqual([1, []])
})

test('finished spans are staged one after another, the oldest first', async () => {
  const { runtime } = sessionOf(scripted(() => 'In short.'))
  const collapser = new Collapser()
  collapser.afterAnswer(runtime)
  await collapser.idle()
  expect(collapser.staged().map(({ text }) => /Look into (\w)/.exec(text)?.[1])).toEqual(['a', 'b', 'c', 'd', 'e'])
})
