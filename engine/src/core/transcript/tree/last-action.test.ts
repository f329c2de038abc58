import { expect, test } from 'vitest'
import { compactionRecords } from '../format/compaction-records.ts'
import { type Edit, editRecords } from '../format/edits.ts'
import { lastAction } from './changes.ts'

const place = { timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
let made = 0
const written = (...edits: readonly Edit[]) =>
  editRecords(edits, { ...place, parentUuid: null, uuids: edits.map(() => `e${++made}`) })
const typesOf = (records: readonly Readonly<Record<string, unknown>>[]) =>
  lastAction(records.map((record) => ({ record, position: { line: 0, offset: 0, length: 0, nth: 0 } }))).map(
    ({ type }) => type,
  )

const results: Edit = { type: 'clear-results', toolUseIds: ['t'] }
const inputs: Edit = { type: 'clear-inputs', toolUseIds: ['t'] }
const thinking: Edit = { type: 'clear-thinking' }

test('edits that were written together are one action, the others each their own', () => {
  expect(typesOf([...written(inputs), ...written(results, thinking)])).toEqual(['clear-results', 'clear-thinking'])
  expect(typesOf([...written(results, thinking), ...written(inputs)])).toEqual(['clear-inputs'])
})

test('two actions of the same kind at the same time stay two', () => {
  expect(typesOf([...written(results), ...written(results)])).toEqual(['clear-results'])
})

test('a compaction and the edits it brings are one action', () => {
  const { records } = compactionRecords(
    {
      facts: {
        trigger: 'manual',
        preTokens: 100,
        postTokens: 10,
        durationMs: 1,
        messagesSummarized: 3,
        cumulativeDroppedTokens: 90,
        discoveredTools: [],
        userContext: '',
        everlong: {},
      },
      summary: 'What happened.',
      attachments: [],
      edits: [thinking],
    },
    { ...place, newId: () => `c${++made}`, logicalParent: undefined },
  )
  expect(typesOf([...written(results), ...records])).toEqual(['compaction', 'clear-thinking'])
})

test('of an action that was taken back in part, the rest is left', () => {
  const both = written(results, thinking)
  const [first] = both
  expect(typesOf([...both, ...written({ type: 'undo', uuid: String(first?.uuid) })])).toEqual(['clear-thinking'])
})

test('pins and what the server reported are no actions to undo', () => {
  const report: Edit = { type: 'server-cleared', toolUses: 1, thinkingTurns: 0, tokens: 10 }
  expect(typesOf([...written({ type: 'pin', uuid: 'x' }), ...written(report)])).toEqual([])
})
