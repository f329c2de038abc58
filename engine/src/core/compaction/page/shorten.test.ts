import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuTime, lowestRatio } from '../../../node/testing/cpu-time.ts'
import { leftOut, shortenedNote } from '../../prompts/page.ts'
import { sectionTitles } from '../../prompts/summary.ts'
import { isLeadIn, proseBlocks, shortenSummary } from './sections.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const titles = sectionTitles('full')
const shorten = (text: string, tokens: number, isRule?: (line: string) => boolean) =>
  shortenSummary(text, { tokens, countTokens, ...(isRule ? { isRule } : {}) })

const whole = titles
  .map(
    (title, at) =>
      `${at + 1}. ${title}:\n${Array.from({ length: 12 }, (_, line) => `- Section ${at + 1}, line ${line}, says something.`).join('\n')}\n`,
  )
  .join('\n')

describe('shortening', () => {
  test('changes nothing where the text fits', () => {
    expect(shorten(whole, countTokens(whole))).toBe(whole)
  })

  test('says that it did so, and is never longer than allowed', () => {
    for (const share of [0.95, 0.8, 0.6, 0.4, 0.2, 0.1]) {
      const tokens = Math.floor(countTokens(whole) * share)
      const text = shorten(whole, tokens)
      expect(text.startsWith(`${shortenedNote}\n\n`)).toBe(true)
      expect(countTokens(text)).toBeLessThanOrEqual(tokens)
    }
  })

  const countsAt = (share: number) => {
    const text = shorten(whole, Math.floor(countTokens(whole) * share))
    return titles.map((_, at) => text.split(`Section ${at + 1}, `).length - 1)
  }

  test('shrinks the early sections evenly, and pending tasks, current work and the next step last', () => {
    const counts = countsAt(0.6)
    expect(counts.slice(6)).toEqual([12, 12, 12])
    expect(Math.max(...counts.slice(0, 5)) - Math.min(...counts.slice(0, 5))).toBeLessThanOrEqual(2)
    expect(Math.max(...counts.slice(0, 6))).toBeLessThan(9)
  })

  test('takes from the user’s messages first, the oldest first, and leaves some', () => {
    expect(countsAt(0.99)).toEqual([12, 12, 12, 12, 12, expect.any(Number), 12, 12, 12])
    expect(countsAt(0.99)[5]).toBeLessThan(12)
    expect(shorten(whole, Math.floor(countTokens(whole) * 0.99))).toContain('- Section 6, line 11, says')
    expect(countsAt(0.8)[5]).toBeGreaterThan(0)
  })

  test('a claim goes together with the mark that doubts it', () => {
    const claims = Array.from(
      { length: 8 },
      (_, at) => `- Gate ${at} opens. It shuts. It was pushed. (last seen: no push)`,
    )
    const text = `5. Problem solving:\n${claims.join('\n')}\n8. Current work:\n- Gates.`
    for (let tokens = 40; tokens < countTokens(text); tokens += 3) {
      const short = shorten(text, tokens)
      expect(short.split('It was pushed.').length).toBe(short.split('It was pushed. (last seen').length)
    }
  })

  test('an item whose details were left out does not promise them any more', () => {
    const items = Array.from(
      { length: 6 },
      (_, at) => `- Hinge ${at} got a new shape:\n  \`\`\`\n  hinge(${at})\n  \`\`\``,
    )
    const text = `3. Files and code sections:\n${items.join('\n')}\n8. Current work:\n- Hinges.`
    const short = shorten(text, countTokens(text) - 8)
    expect(short).toContain('- Hinge 0 got a new shape (details left out)\n')
    expect(short).toContain('- Hinge 5 got a new shape:\n  ```')
  })

  test('keeps the user’s rules to the end', () => {
    const text = shorten(whole, Math.floor(countTokens(whole) * 0.4), (line) => line.includes('Section 2, line 0,'))
    expect(text).toContain('Section 2, line 0,')
  })

  test('leaves no lead-in and no heading without what it introduces', () => {
    const groups = Array.from(
      { length: 10 },
      (_, at) =>
        `**Group ${at}:**\n- First of group ${at} is here.\n  - Detail of it.\n- Second of group ${at} is here.`,
    )
    const text = `3. Files and code sections:\n${groups.join('\n')}\n7. Pending tasks:\n- Paint.\n8. Current work:\n- Hinges.`
    for (const tokens of [250, 200, 150, 100, 70]) {
      const lines = shorten(text, tokens).split('\n')
      const leads = lines.filter((line, at) => line.startsWith('**') && !/^- /.test(lines[at + 1] ?? ''))
      const heads = lines.filter((line, at) => /^\d\. /.test(line) && !/^(?:- |\*\*)/.test(lines[at + 1] ?? ''))
      expect({ tokens, leads, heads }).toEqual({ tokens, leads: [], heads: [] })
    }
  })

  test('a lead-in does not go before what it introduces', () => {
    const text = `3. Files and code sections:\nThe files of the house:\n${'- The hinge was changed.\n'.repeat(20)}`
    const short = shorten(text, Math.floor(countTokens(text) * 0.9))
    expect(short).toContain('The files of the house:')
    expect(short.split('- The hinge').length).toBeGreaterThan(10)
  })

  test('takes whole bullets and sentences: nothing in it was not in the text', () => {
    const sentence = fc.constantFrom(
      'The door is open.',
      'It was green!',
      'Is the gate next?',
      'The hinge (4.5 cm) was too wide;',
    )
    const block = fc.oneof(
      fc.array(sentence, { minLength: 1, maxLength: 6 }).map((list) => `- ${list.join(' ')}`),
      fc.array(sentence, { minLength: 1, maxLength: 4 }).map((list) => `  - ${list.join(' ')}`),
      fc.constantFrom(
        '**Lead-in:**',
        '| a | b |',
        '```\nconst a = 1\n```',
        '1. Primary request and intent:',
        '4. Errors and fixes:',
        '7. Pending tasks:',
        '8. Current work:',
      ),
    )
    fc.assert(
      fc.property(
        fc.array(block, { minLength: 4, maxLength: 30 }),
        fc.double({ min: 0.1, max: 0.99, noNaN: true }),
        (blocks, share) => {
          const text = blocks.join('\n')
          const short = shorten(text, countTokens(text) * share)
          const known = new Set(text.split('\n').flatMap((line) => [line, ...line.split(/(?<=[.!?;])[ \t]+/)]))
          for (const line of short.split('\n')) {
            const before = line.replace(` ${leftOut}`, ':')
            if (line === '' || line === shortenedNote || known.has(before)) continue
            expect(before.split(/(?<=[.!?;])[ \t]+/).filter((part) => !known.has(part))).toEqual([])
          }
        },
      ),
    )
  })
})

describe('blocks of prose', () => {
  test('know what they hang under', () => {
    const text = '**Files:**\n- a.ts\n  - a detail\n- b.ts\nA paragraph.\n```\n- not an item\n```\n| a | b |'
    expect(proseBlocks(text).map(({ kind, parent }) => [kind, parent])).toEqual([
      ['paragraph', -1],
      ['item', 0],
      ['item', 1],
      ['item', 0],
      ['paragraph', -1],
      ['code', 4],
      ['row', -1],
    ])
  })

  test('that only lead to others are told from those that say something', () => {
    const lead = (text: string) => isLeadIn({ text, kind: 'paragraph' })
    expect(['Files:', '**Files:**', '**Files**', '### Files', 'Files: a.ts', 'It is so.'].map(lead)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ])
    expect(isLeadIn({ text: '- Files:', kind: 'item' })).toBe(false)
  })
})

describe('shortening takes linear time', () => {
  const timeOf = (text: string) => cpuTime(() => void shorten(text, countTokens(text) / 2))
  test.each<readonly [string, (size: number) => string]>([
    ['many bullets', (size) => '- The hinge was changed. It was too wide.\n'.repeat(size * 0.4)],
    ['many bullets under one lead-in', (size) => `Files:\n${'- The hinge was changed.\n'.repeat(size * 0.4)}`],
    [
      'deep bullets',
      (size) => Array.from({ length: size * 0.2 }, (_, at) => `${' '.repeat(at % 40)}- The hinge.`).join('\n'),
    ],
    ['fences', (size) => '```\nx\n```\n'.repeat(size * 0.2)],
    ['spaces', (size) => `a${' '.repeat(size)}b.\n- c`],
    ['one line', (size) => 'The hinge was changed. '.repeat(size / 4)],
    ['one word', (size) => 'a'.repeat(size * 5)],
  ])('%s', (_, make) => {
    const [small, large] = [make(25_000), make(100_000)]
    timeOf(small)
    expect(lowestRatio(9, () => timeOf(large) / Math.max(10, timeOf(small)))).toBeLessThan(9)
  })
})
