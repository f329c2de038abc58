import { expect, test } from 'vitest'
import { session, textBlock } from '../../testing/index.ts'
import { createLedger } from '../ledger/ledger.ts'
import { viewOf } from '../mechanisms/examples.ts'
import { createWeigher } from '../mechanisms/weigher.ts'
import type { ModelClient } from '../ports/model.ts'
import { createStop } from '../ports/stop.ts'
import type { Beside } from './beside.ts'
import { createCollapser } from './collapser.ts'
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
function besideOf(client: ModelClient) {
  let tokens = 90
  const beside: Beside = {
    view: () => view,
    tokens: () => tokens,
    effectiveWindow: () => 100,
    ledger: createLedger().ledger,
    weigher: () => createWeigher(),
    client: () => client,
    model: () => client.model,
    countTokens: (text) => Math.ceil(text.length / 4),
    emit: () => undefined,
    spend: () => undefined,
    signal: createStop().signal,
  }
  const empty = () => {
    tokens = 10
  }
  return { beside, empty }
}

test('three failures in a row end it, and a compaction begins anew', async () => {
  const client = scripted(() => '')
  const { beside } = besideOf(client)
  const collapser = createCollapser()
  const look = async () => {
    collapser.look(beside)
    await collapser.idle()
    return client.requests.length
  }
  expect([await look(), await look()]).toEqual([3, 3])
  collapser.clear()
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
  const { beside, empty } = besideOf(waiting)
  const collapser = createCollapser()
  collapser.look(beside)
  collapser.clear()
  empty()
  resolve()
  await collapser.idle()
  expect([client.requests.length, collapser.staged()]).toEqual([1, []])
})

test('finished spans are staged one after another, the oldest first', async () => {
  const { beside } = besideOf(scripted(() => 'In short.'))
  const collapser = createCollapser()
  collapser.look(beside)
  await collapser.idle()
  expect(collapser.staged().map(({ text }) => /Look into (\w)/.exec(text)?.[1])).toEqual(['a', 'b', 'c', 'd', 'e'])
})
