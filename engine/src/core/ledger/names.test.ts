import { expect, test } from 'vitest'
import { namesIn, numbersIn } from './names.ts'

const names = (text: string) => [...namesIn(text, new Map())]

test.each<readonly [string, readonly string[]]>([
  ['edit /p/src/a.ts and ./b/c.go', ['/p/src/a.ts', './b/c.go']],
  ['call openDoor(max_tries, FOO_BAR)', ['openDoor', 'max_tries', 'FOO_BAR']],
  ['commit 1a2b3c4d fixes it', ['1a2b3c4d']],
  ['see https://example.com/a?b=1#c.', ['https://example.com/a?b=1#c']],
  ['upgrade to v2.13.0', ['v2.13.0']],
  ['fixes #482', ['#482']],
  ['package.json and .env.local', ['package.json', '.env.local']],
  ['id 2734651404', ['2734651404']],
  ['either/or, yes and no, 12 of 99', []],
  ['</div> /exit', []],
  ['"first\\nsecondLine"', ['secondLine']],
])('%s', (text, expected) => {
  expect(names(text)).toEqual(expected)
})

test('numbers come with what they count, and without they say nothing', () => {
  expect([...numbersIn('port 8080, localhost:3000, line: 343-364, in 2026, a.ts:120 and 4711')]).toEqual([
    'port 8080',
    'localhost:3000',
    'line 343-364',
    'a.ts:120',
  ])
})

test('a number is told by what it counts, or how it is compared, on its own line', () => {
  expect([...numbersIn('3 files changed, 333 insertions(+)\na 500-line file of ~200-300 words')]).toEqual([
    '333 insertions',
    '500 line',
    '~200-300 words',
  ])
  expect([...numbersIn('if count > 1000 { … } (lines ~700-800), door.ts(1110,8): error')]).toEqual([
    'count > 1000',
    'lines ~700-800',
    'door.ts:1110',
  ])
  expect([...numbersIn('what we do\n175 and so on')]).toEqual([])
})

test('a package is a name beside the class in it, and spreading leaves no dots', () => {
  expect(names('org.example.tools.DoorOpener')).toEqual(['org.example.tools', 'DoorOpener'])
  expect(names('[...allDoors.map(open)]')).toEqual(['allDoors.map'])
  expect(names('import "net/http", read and/or write')).toEqual(['net/http'])
})

test('a chunk without end is passed over quickly', () => {
  expect(names('a'.repeat(1_000_000))).toEqual([])
  expect(names('/x'.repeat(500_000))).toEqual([])
})

test('what a module is imported by is one name', () => {
  expect(names('import Tabs from "@theme/Tabs"; import { open } from "~/lib/door.server"')).toEqual([
    '@theme/Tabs',
    '~/lib/door.server',
  ])
})

test('a point in time leaves no half of itself', () => {
  expect(names('"created_at": "2026-01-28T23:04:05Z", at 2026-01-28T23:04:05.123Z')).toEqual(['created_at'])
})
