import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inflectionsOf, isFunctionWord } from './terms.ts'

test.each([
  ['paint', ['paints', 'painted', 'painting']],
  ['painting', ['paint', 'painted', 'paintings']],
  ['paintings', ['painting', 'paint', 'painted']],
  ['hobbies', ['hobby']],
  ['hobby', ['hobbies']],
  ['tried', ['try', 'tries', 'trying']],
  ['makes', ['make', 'making']],
  ['making', ['make', 'makes']],
  ['running', ['run', 'runs']],
  ['planned', ['plan', 'plans', 'planning']],
  ['stop', ['stopped', 'stopping']],
  ['boxes', ['box']],
  ['church', ['churches']],
  ['process', ['processes', 'processed', 'processing']],
  ['Cached', ['cache', 'caches', 'caching']],
  ['ERRORS', ['error']],
])('%s stands for %j as well', (word, forms) => {
  expect(inflectionsOf(word)).toEqual(expect.arrayContaining(forms))
})

test.each(['userId', 'E_CONFLICT', 'v2', 'sha256', 'src', 'é', 'Müllers', 'go2', '', 'x'.repeat(31)])(
  'an identifier, or a word of another language, is not taken apart: %j',
  (word) => {
    const forms = inflectionsOf(word)
    expect(forms.every((form) => form.startsWith(word))).toBe(true)
    if (!/^[a-z]{2,30}$/.test(word)) expect(forms).toEqual([])
  },
)

test.each([
  ['need', 'ne'],
  ['speed', 'spe'],
  ['string', 'str'],
  ['class', 'clas'],
  ['status', 'statu'],
  ['this', 'thi'],
  ['red', 'r'],
])('%s is no inflection of %s', (word, base) => {
  expect(inflectionsOf(word)).not.toContain(base)
})

test('a word is never among its own inflections, and there are few of them', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,12}(s|es|ies|ed|ied|ing)?$/), (word) => {
      const forms = inflectionsOf(word)
      expect(forms).not.toContain(word)
      expect(new Set(forms).size).toBe(forms.length)
      expect(forms.length).toBeLessThan(30)
    }),
  )
})

test.each(['The', 'what’s', "don't", "can't", "I'm", "they're", 'of'])('%s carries no topic', (word) => {
  expect(isFunctionWord(word)).toBe(true)
})

test.each(['never', 'must-have', 'heron', "heron's", 'use', 'go', ''])('%s may carry one', (word) => {
  expect(isFunctionWord(word)).toBe(false)
})
