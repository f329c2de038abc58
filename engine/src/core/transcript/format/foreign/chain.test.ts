import { expect, test } from 'vitest'
import { createChain } from './chain.ts'

const position = { line: 1, offset: 0, length: 1, nth: 0 }
const place = (uuid: string) => ({ uuid, position })

function chainOf(...uuids: readonly string[]) {
  const chain = createChain()
  const entries = uuids.map((uuid) => chain.add({ type: 'user' }, place(uuid)))
  return { ...chain, parents: entries.map(({ record }) => record.parentUuid) }
}

test('each record has the one before it as its parent', () => {
  expect(chainOf('a', 'b', 'c').parents).toEqual([null, 'a', 'b'])
})

test('a rewind goes before the first record of an id that is repeated', () => {
  const chain = chainOf('a', 'b', 'c', 'b')
  expect(chain.rewindBefore('b', place('r')).map(({ record }) => record.parentUuid)).toEqual(['a'])
  expect(chain.last()).toBe('r')
})

test('a rewind before the first record begins a new conversation, and one before an unknown record does nothing', () => {
  const chain = chainOf('a', 'b')
  expect([chain.rewindBefore('x', place('r')), chain.last()]).toEqual([[], 'b'])
  expect([chain.rewindBefore('a', place('r')), chain.last()]).toEqual([[], null])
})

test('a compaction begins a chain of its own: the boundary names the last record, and the summary follows it', () => {
  const chain = chainOf('a', 'b', 'c')
  const made = chain.compact({ summary: 'In short.', keptFrom: 'b', metadata: { trigger: 'auto' } }, place('s'))
  expect(made.map(({ record }) => [record.uuid, record.parentUuid])).toEqual([
    ['s-boundary', null],
    ['s', 's-boundary'],
  ])
  const preservedSegment = { headUuid: 'b', anchorUuid: 's', tailUuid: 'c' }
  expect(made[0]?.record).toMatchObject({
    logicalParentUuid: 'c',
    compactMetadata: { trigger: 'auto', preservedSegment },
  })
  expect(chain.add({}, place('d')).record.parentUuid).toBe('s')
})
