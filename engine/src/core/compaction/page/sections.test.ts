import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sectionTitles } from '../../prompts/summary.ts'
import { joinSections, missingSections, readSections } from './sections.ts'

const numbersIn = (text: string) => readSections(text).map(({ number }) => number)
const titles = sectionTitles('full')
const written = (head: (title: string, number: number) => string) =>
  titles.map((title, at) => `${head(title, at + 1)}\n- What belongs to ${at + 1}.\n`).join('\n')
const all = [1, 2, 3, 4, 5, 6, 7, 8, 9]

describe('headings', () => {
  test.each<readonly [string, (title: string, number: number) => string]>([
    ['as asked for', (title, number) => `${number}. ${title}:`],
    ['in bold', (title, number) => `**${number}. ${title}**`],
    ['with the number outside the bold', (title, number) => `${number}. **${title}:**`],
    ['as headings', (title) => `## ${title}`],
    ['as numbered headings', (title, number) => `### ${number}) ${title}`],
    ['in capitals', (title, number) => `${number}. ${title.toUpperCase()}`],
    [
      'with words behind them',
      (title, number) => `${number}. ${title} (as far as it can be told from the conversation)`,
    ],
    ['very long', (title, number) => `${number}. ${title}: ${'and much more of it '.repeat(12)}`],
    ['bold and without a number', (title) => `**${title}:**`],
    ['with content on the same line', (title, number) => `${number}. ${title}: none of it matters here.`],
  ])('are recognized %s', (_, head) => {
    expect(numbersIn(written(head))).toEqual(all)
    expect(missingSections(readSections(written(head)), 'full')).toEqual([])
  })

  test('in another language are recognized by their numbers', () => {
    const german = 'Auftrag Begriffe Dateien Fehler Lösungen Nachrichten Offenes Stand Weiter'.split(' ')
    const text = german.map((title, at) => `${at + 1}. ${title}:\n- Etwas.\n`).join('\n')
    expect(numbersIn(text)).toEqual(all)
    expect(numbersIn(text.replace('5. Lösungen:', 'Lösungen:'))).toEqual([undefined])
  })

  test('are not what is numbered inside a section, or stands in a fence', () => {
    const text = `1. Primary request and intent:\n1. Open the door.\n2. Paint it.\n3. Errors of the hinge matter.\n2. Key technical concepts:\n\`\`\`\n6. All user messages:\n\`\`\`\n3. Files and code sections:\n- a.ts`
    expect(numbersIn(text)).toEqual([1, 2, 3])
  })

  test('count once and in rising order; what comes before the first is a section of its own', () => {
    const text = `A word before.\n${written((title, number) => `${number}. ${title}:`)}\n3. Files and code sections:\n- again`
    expect(numbersIn(text)).toEqual([undefined, ...all])
    expect(readSections(text).at(-1)?.body).toContain('- again')
    const twice =
      '1. Primary request and intent:\nx\n1. Primary request and intent:\ny\n2. Key technical concepts:\n3. Files:'
    expect(numbersIn(twice)).toEqual([1, 2, 3])
  })

  test('that are missing are named', () => {
    const text = '1. Primary request and intent:\nx\n7. Pending tasks:\nx\n9. Optional next step:\nx'
    expect(missingSections(readSections(text), 'full')).toEqual(titles.filter((_, at) => ![0, 6, 8].includes(at)))
  })
})

const line = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '```',
    '~~~ts',
    '- item',
    '| a | b |',
    '<summary>',
    '</summary>',
    '\t',
    '#',
    '**',
    '1.',
    '漢字：',
  ),
  fc
    .integer({ min: 0, max: 8 })
    .chain((at) =>
      fc.constantFrom(
        `${at + 1}. ${titles[at]}:`,
        `## ${titles[at]}`,
        `**${at + 1}) ${titles[at]}**`,
        `${at + 1}. Etwas:`,
      ),
    ),
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replaceAll('\n', ' ')),
)

test('sections joined give the text back unchanged', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      const text = lines.join('\n')
      expect(joinSections(readSections(text))).toBe(text)
    }),
    { numRuns: 1_000 },
  )
})
