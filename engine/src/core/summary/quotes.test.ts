import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createQuoteMender } from './quotes.ts'

/** Letters and digits alone, in small letters: what is compared. */
const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const word = fc.constantFrom('keep', 'the', 'Keep', 'parser', 'pars', 'ÜBER', 'über', 'don’t', '42', 'a_b', '“so”', '—')
const said = fc.array(word, { minLength: 2, maxLength: 6 }).map((words) => words.join(' '))

describe('quotations of the user', () => {
  test('stay when their words follow one another in what people typed, marks and case aside', () => {
    fc.assert(
      fc.property(fc.array(said, { maxLength: 4 }), said, (human, quote) => {
        fc.pre(/\p{L}\S*\s+\S*\p{L}/u.test(quote) && !/[“”"]/.test(quote))
        const mend = createQuoteMender({ human, agreed: () => false })
        const isThere = ` ${plain(human.join('\n'))} `.includes(` ${plain(quote)} `)
        expect(mend(`The user said: "${quote}"`).falseQuotes).toEqual(isThere ? [] : [quote])
      }),
    )
  })
})

describe('what people said', () => {
  const claim = 'The user has approved the plan.'

  test('bears an approval out by a word of consent, in one message or across two', () => {
    const left = (...human: string[]) => createQuoteMender({ human, agreed: () => false })(claim).inferredApprovals
    expect(left('fix the parser', 'and the tests')).toEqual([claim])
    expect(left('fix the parser', 'Go, ahead!')).toEqual([])
    expect(left('where does it go', 'ahead of the others')).toEqual([])
  })

  test('is not looked through where nothing is claimed', () => {
    const mend = createQuoteMender({
      human: [],
      agreed: () => {
        throw new Error('Nobody asked.')
      },
    })
    expect(mend('The parser is fixed.').text).toBe('The parser is fixed.')
    expect(() => mend(claim)).toThrow('Nobody asked.')
  })
})
