import { expect, test } from 'vitest'
import { session, textBlock } from '../../testing/index.ts'
import { viewOf } from '../mechanisms/testing/examples.ts'
import { createWeigher } from '../mechanisms/weigher.ts'
import type { ModelClient } from '../ports/model.ts'
import { createStop } from '../ports/stop.ts'
import { Collapser } from './collapser.ts'
import type { BackgroundContext } from './runtime.ts'
import { scripted } from './testing/world.ts'

/** Five finished spans, each worth a summary of its own, and one that is not finished. */
const view = viewOf(
  ['a', 'b', 'c', 'd', 'e', 'f'].reduce(
    (written, name) =>
      written.user(`Look into ${name}. ${'lorem ipsum '.repeat(2_000)}`).assistant([textBlock('Done.')]),
    session(),
  ).records,
)

/** What the collapser sees of a conversation that is nearly full until it is said to be empty. */
function contextOf(client: ModelClient) {
  let tokens = 90
  const context: BackgroundContext = {
    view: () => view,
    tokens: () => tokens,
    effectiveWindow: () => 100,
    entries: () => [],
    weigher: () => createWeigher(),
    client: () => client,
    model: () => client.model,
    countTokens: (text) => Math.ceil(text.length / 4),
    emit: () => undefined,
    addUsage: () => undefined,
    isCompactionOff: () => false,
    requestFor: () => ({ source: 'turn', model: client.model, messages: [] }),
    signal: createStop().signal,
  }
  const empty = () => {
    tokens = 10
  }
  return { context, empty }
}

test('three failures in a row end it, and a compaction begins anew', async () => {
  const client = scripted(() => '')
  const { context } = contextOf(client)
  const collapser = new Collapser()
  const look = async () => {
    collapser.afterAnswer(context, 0)
    await collapser.idle()
    return client.requests.length
  }
  expect([await look(), await look()]).toEqual([3, 3])
  collapser.afterCompaction()
  expect(await look()).toBe(6)
  expect(collapser.staged()).toEqual([])
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
  const { context, empty } = contextOf(waiting)
  const collapser = new Collapser()
  collapser.afterAnswer(context, 0)
  collapser.afterCompaction()
  empty()
  resolve()
  await collapser.idle()
  expect([client.requests.length, collapser.staged()]).toEqual([1, []])
})

test('finished spans are staged one after another, the oldest first', async () => {
  const { context } = contextOf(scripted(() => 'In short.'))
  const collapser = new Collapser()
  collapser.afterAnswer(context, 0)
  await collapser.idle()
  expect(collapser.staged().map(({ text }) => /Look into (\w)/.exec(text)?.[1])).toEqual(['a', 'b', 'c', 'd', 'e'])
})
