import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens, maxExtra } from './estimate.ts'

const numbers = Array.from({ length: 30 }, (_, i) => `${i * 7919},${(i * 104729) % 100000},0.${i * 37}`).join('\n')

/** Texts with their exact o200k counts, taken once from gpt-tokenizer 4.0.0. */
const known: readonly (readonly [kind: string, text: string, tokens: number])[] = [
  [
    'English',
    'The window of a model is finite, and a long task fills it. When it is nearly full, something has to leave: old tool results first, then whole stretches of the conversation, replaced by a summary that keeps what the work still needs.',
    50,
  ],
  [
    'TypeScript',
    'export function countLines(text: string): number {\n  let lines = 1\n  for (let index = 0; index < text.length; index++) {\n    if (text.charCodeAt(index) === 10) lines += 1\n  }\n  return lines\n}\n',
    59,
  ],
  [
    'JSON',
    '{"id":4711,"name":"Ada","tags":["alpha","beta"],"nested":{"ok":true,"ratio":0.25,"items":[{"sku":"A-1","count":3},{"sku":"B-2","count":12}]}}',
    53,
  ],
  [
    'Chinese',
    '模型的上下文窗口是有限的。当对话接近窗口的上限时，较早的工具结果会被清除，较长的内容会被总结替换，但是原始记录始终保留在磁盘上。',
    51,
  ],
  [
    'Russian',
    'Окно контекста модели ограничено. Когда разговор приближается к пределу, старые результаты инструментов удаляются, а длинные части заменяются кратким изложением.',
    38,
  ],
  ['numbers', numbers, 299],
]

/** The same kind of sentences in languages that are rare in vocabularies. */
const littleKnown: readonly (readonly [language: string, text: string, tokens: number])[] = [
  [
    'Esperanto',
    'La fenestro de la modelo estas limigita, kaj longa laboro plenigas ĝin. Kiam ĝi estas preskaŭ plena, io devas foriri: unue la malnovaj rezultoj de la iloj, poste tutaj partoj de la konversacio, anstataŭigitaj per resumo kiu tenas tion, kion la laboro ankoraŭ bezonas. La originaloj restas sur la disko.',
    87,
  ],
  [
    'Basque',
    'Ereduaren leihoa mugatua da, eta lan luze batek bete egiten du. Ia beteta dagoenean, zerbaitek alde egin behar du: lehenik tresnen emaitza zaharrek, gero elkarrizketaren zati osoek, lanak oraindik behar duena gordetzen duen laburpen batek ordezkatuta. Jatorrizkoak diskoan gordetzen dira beti.',
    88,
  ],
  [
    'Somali',
    'Daaqadda moodelku way xaddidan tahay, shaqo dheerna way buuxisaa. Marka ay ku dhowdahay inay buuxsanto, wax waa inay ka baxaan: marka hore natiijooyinkii hore ee qalabka, kadibna qaybo dhan oo wada hadalka ah, oo lagu beddelay soo koobid haysa waxa shaqadu weli u baahan tahay.',
    82,
  ],
]

describe('the estimate', () => {
  test.each(known)('of %s is within a tenth of the exact count', (_, text, tokens) => {
    expect(Math.abs(estimateTokens(text) - tokens) / tokens).toBeLessThan(0.1)
  })

  test.each(littleKnown)(
    'of %s is within a fifth of it, though its letters are those of English',
    (_, text, tokens) => {
      expect(Math.abs(estimateTokens(text) - tokens) / tokens).toBeLessThan(1 / 5)
    },
  )

  test('hears where a text turns to another language, however long it was English before', () => {
    const [[, english] = ['', '']] = known
    const [, [, basque] = ['', '']] = littleKnown
    const before = `${english}\n`.repeat(40)
    const after = `${basque}\n`.repeat(40)
    const apart = estimateTokens(before) + estimateTokens(after)
    expect(Math.abs(estimateTokens(before + after) / apart - 1)).toBeLessThan(0.05)
  })

  test('of nothing is 0, and of anything else at least 1', () => {
    expect(estimateTokens('')).toBe(0)
    fc.assert(fc.property(fc.string({ minLength: 1 }), (text) => estimateTokens(text) >= 1))
  })

  test('is a whole number for any string, halves of surrogate pairs included', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), (units) =>
        Number.isSafeInteger(estimateTokens(String.fromCharCode(...units))),
      ),
    )
  })

  test('is the same within a few tokens when a text is cut in front of a space', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        const difference = estimateTokens(`${a} ${b}`) - estimateTokens(a) - estimateTokens(` ${b}`)
        expect(Math.abs(difference)).toBeLessThanOrEqual(12)
      }),
    )
  })

  test('counts runs of one mark, which real vocabularies merge but do not swallow', () => {
    for (const mark of ['-', '=', '*', '_', '.', '#']) {
      expect(estimateTokens(mark.repeat(6_400))).toBeGreaterThan(25)
      expect(estimateTokens(mark.repeat(6_400))).toBeLessThan(800)
    }
  })

  test('counts rare characters as more than common ones', () => {
    expect(estimateTokens('龘靐齉爩鱻'.repeat(20))).toBeGreaterThan(2 * estimateTokens('我们是中国'.repeat(20)))
  })

  test('grows in step with a text that repeats itself: no part of it is quadratic or lost', () => {
    const once = estimateTokens(numbers)
    expect(Math.abs(estimateTokens(numbers.repeat(1_000)) / (1_000 * once) - 1)).toBeLessThan(0.02)
  })
})

test('an unusual language has at most so much more than the plain estimate', () => {
  // Too short for scoring, so it gets the plain estimate of the same letters.
  const word = 'žđšćčžđšćč '
  const plain = estimateTokens(word.repeat(11)) / 11
  const long = estimateTokens(word.repeat(400)) / 400
  expect(long).toBeGreaterThan(plain * 1.5)
  expect(long).toBeLessThanOrEqual(plain * (1 + maxExtra) * 1.02)
})
