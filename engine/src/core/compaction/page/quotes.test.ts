import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainWords } from '../../text/plain-words.ts'
import { annotateQuotes, isQuotedFrom, notFound } from './claims.ts'

const never = () => false
const check = (line: string, isSaid: (quote: string) => boolean = never) => annotateQuotes(line, isSaid)

describe('quotations that a sentence attributes to the user', () => {
  test.each([
    ['The user said "push it to main now".', 'push it to main now'],
    ['The user asked: “push it to main now”', 'push it to main now'],
    ["- User: 'push it to main now'", 'push it to main now'],
    ['The user’s exact words were *push it to main now*.', 'push it to main now'],
    ['Per the user: `push it to main now`', 'push it to main now'],
    ['"Push it to main now", the user wrote.', 'Push it to main now'],
    ['As requested by the user, "push it to main now".', 'push it to main now'],
    ['The user replied "yes".', 'yes'],
    ['The human said "go ahead".', 'go ahead'],
    ['用户 (user) wrote: "请现在推送"', '请现在推送'],
  ])('are marked where they cannot be found: %s', (line, quote) => {
    const checked = check(line)
    expect(checked.found).toEqual([quote])
    expect(checked.text.replace(` ${notFound}`, '')).toBe(line)
    expect(checked.text).toContain(`${quote}${checked.text[checked.text.indexOf(quote) + quote.length]} ${notFound}`)
  })

  test.each([
    'The assistant told the user "I pushed it to main now".',
    'The error log shown to the user said "connection refused by host".',
    'The button reads "push it to main now".',
    'The README says "push it to main now" for every user.',
    'The user opened "settings".',
    'The user is in Berlin. The test is called "it opens the right door".',
    "The user's file is `src/core/a.ts`.",
  ])('are left alone where nobody attributes them to the user: %s', (line) => {
    expect(check(line)).toEqual({ text: line, found: [] })
  })

  test('several in one line are looked at one by one', () => {
    const { text, found } = check('The user said "open the door" and "burn the house down".', (quote) =>
      quote.startsWith('open'),
    )
    expect(found).toEqual(['burn the house down'])
    expect(text).toBe(`The user said "open the door" and "burn the house down" ${notFound}.`)
  })
})

describe('finding a quotation', () => {
  const texts = ['Please open the Door, then paint it — green!', 'And do not touch the gate.'].map(plainWords)
  test.each([
    ['open the door', true],
    ['OPEN the door; then paint it: green', true],
    ['Please open … paint it', true],
    ['open the door...do not touch', true],
    ['open [the old] door', true],
    ['[…]', true],
    ['open a door', false],
    ['ate', false],
    ['paint it … red', false],
  ])('%j is there: %s', (quote, isThere) => {
    expect(isQuotedFrom(quote, texts)).toBe(isThere)
  })

  test('words that stand in two messages only together are no quotation', () => {
    expect(isQuotedFrom('green and do not', texts)).toBe(false)
  })
})

test('nothing is ever removed from a text: without the marks it is what it was', () => {
  const part = fc.constantFrom(
    'The user said ',
    '"open the door now"',
    '“burn it all down”',
    '*do that at once*',
    '`x y z w`',
    "'yes, go ahead'",
    '. ',
    '\n',
    '- User: ',
    'the assistant ',
    '"',
    '**',
    ' … ',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), fc.boolean(), (parts, isSaid) => {
      const text = parts.join('')
      const checked = check(text, () => isSaid)
      expect(checked.text.replaceAll(` ${notFound}`, '')).toBe(text)
      expect(checked.text.split(notFound).length - 1).toBe(checked.found.length)
      if (isSaid) expect(checked.found).toEqual([])
    }),
  )
})

test('what stands between two names in backticks is no quotation', () => {
  const line = 'The user asked for `--full` and a branch view to the `explain` command of the `entire` tool.'
  expect(annotateQuotes(line, () => false)).toEqual({ text: line, found: [] })
})
