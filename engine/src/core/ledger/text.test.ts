import { expect, test } from 'vitest'
import { assistant, human, shell } from '../../testing/talk.ts'
import { oneLine } from '../text/neutralize.ts'
import { toJson } from './json.ts'
import { createLedger } from './ledger.ts'

// Assembled from parts, so that no scanner takes them for real ones.
const keys = [
  ['sk', 'ant', 'api03', 'Zk3'.repeat(12)].join('-'),
  `ghp_${'a1B2'.repeat(9)}`,
  `AKIA${'Q2'.repeat(8)}`,
  ['eyJhbGciOiJI', 'eyJzdWIiOiIx', 'c2lnbmF0dXJl'].join('.'),
  `AIza${'Sy0_'.repeat(9)}`,
]

// hermes-agent #43666, openclaw PR#67801: secrets survive compaction; ironclaw #6853: a hit blocked it for ever.
test.each(keys)('%s goes nowhere', (key) => {
  const book = createLedger()
  const said = [
    human(`Always use the key ${key} for the tests.`),
    assistant(`I chose ${key} instead of the other one.`),
    ...shell(`curl -H "x-api-key: ${key}" https://user:${key}@e.example/a`, `error: bad key ${key}`, 1),
  ]
  for (const { message, record } of said) book.add(message, record)
  const ledger = book.ledger()
  expect(JSON.stringify(toJson(ledger))).not.toContain(key)
  expect(JSON.stringify(ledger)).not.toContain(key)
  expect(ledger.rules.map(({ text }) => text)).toEqual(['Always use the key [redacted] for the tests.'])
})

test('foreign text becomes one line without controls, and is cut between characters', () => {
  expect(oneLine('a\r\n\u001b[31mb\u001b[0m\u202e\u0000c', 40)).toBe('a b c')
  expect(oneLine('abc😀def', 5)).toBe('abc…')
  expect(oneLine('\ud800x', 10)).toBe('\ufffdx')
})
