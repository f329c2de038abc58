import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ViewMessage } from '../../message/message.ts'
import { createSearch } from './search.ts'
import { unknownNames } from './unknown-names.ts'

/** Letters that small and large are one, in the ways that Unicode knows: plain, beyond ASCII, one that becomes two. */
const letters = fc.constantFrom(...'aAbBkKiIsS09./-_#@~:$(', 'ß', 'ẞ', 'É', 'é', 'İ', '\u212a', 'Σ', 'ς', '\u{10400}')
const word = fc.array(letters, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
const words = fc.array(word, { maxLength: 8 })
const texts = fc.array(
  fc.array(word, { maxLength: 6 }).map((parts) => parts.join(' ')),
  { maxLength: 60 },
)

describe('a search', () => {
  test('finds what plain looking finds, text by text', () => {
    fc.assert(
      fc.property(words, texts, (wanted, all) => {
        const small = wanted.map((one) => one.toLowerCase())
        const search = createSearch(small)
        // Often enough that a pattern is made between them.
        for (const text of all) for (let times = 0; times < 8; times++) search.look(text)
        const plainly = small.filter((one) => all.some((text) => text.toLowerCase().includes(one)))
        expect([...search.found].toSorted()).toEqual([...new Set(plainly)].toSorted())
        expect(search.isOver()).toBe(small.every((one) => search.found.has(one)))
      }),
    )
  })

  test('passes no text over for a letter that only small letters tell to be the same', () => {
    const search = createSearch(['k', 'i̇x'])
    for (let times = 0; times < 100; times++) search.look('nothing of it')
    search.look('\u212a')
    search.look('İX')
    expect([...search.found]).toEqual(['k', 'i̇x'])
  })

  test('knows every letter that in small letters becomes one of ASCII', () => {
    const found: string[] = []
    for (let code = 0x80; code <= 0x10ffff; code++) {
      const small = String.fromCodePoint(code).toLowerCase()
      if (code < 0xd800 || code > 0xdfff) if (/[a-z]/.test(small)) found.push(String.fromCodePoint(code))
    }
    expect(found).toEqual(['İ', '\u212a'])
  })

  test('leaves off looking for what nobody wants any more', () => {
    const search = createSearch(['one', 'two'])
    search.only(['two'])
    search.look('one two')
    expect([[...search.found], search.isOver()]).toEqual([['two'], true])
  })
})

const message = (content: string): ViewMessage => ({ role: 'user', origin: 'human', content })
const name = fc.constantFrom(
  ...[
    'src/parse.ts',
    'src/other/parse.ts',
    'parseTicket',
    'parseTickets',
    'ParseTicket.open',
    '#4711',
    '4711',
    '98765',
  ],
  ...['https://a.example/x', 'https://b.example/x', 'maxItems', 'max_items', 'größeVonX', 'KELVIN_MAX', 'deadbeef1234'],
)

describe('names that the source does not have', () => {
  test('are those that a look through all of it as one text does not find', () => {
    const text = fc.array(name, { maxLength: 4 }).map((parts) => parts.join(' and '))
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 60 }), (summary, said) => {
        const messages = said.map(message)
        expect(unknownNames(summary, { messages, known: [] })).toEqual(
          unknownNames(summary, { messages: [message(said.join('\n'))], known: [] }),
        )
      }),
    )
  })

  test('are told with their own beginnings, in the plural and with a member, and never a web address', () => {
    const unsupported = (summary: string, source: string) =>
      unknownNames(summary, { messages: [message(source)], known: [] })
    expect(unsupported('see app/src/parse.ts and parseTickets', 'app, src, PARSE and ts: parseTicket')).toEqual([])
    expect(unsupported('see https://a.example/x', 'https://a.example')).toEqual(['https://a.example/x'])
    expect(unsupported('see lib/src/parse.ts and 4711', 'src/parse.ts')).toEqual(['lib/src/parse.ts', '4711'])
  })
})
