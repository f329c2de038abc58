import { describe, expect, test } from 'vitest'
import { readSections } from '../compaction/page/sections.ts'
import { continuationText, isContinuation } from './continuation.ts'
import { sectionTitles, summaryPrompt } from './summary.ts'

const variants = ['full', 'from', 'up-to'] as const

describe('the prompt', () => {
  test.for(variants)('%s: as it is sent', (variant) => {
    expect(summaryPrompt({ variant, instructions: 'keep the schema decisions' })).toMatchSnapshot()
  })

  test.for(variants)(
    '%s: text only is said at the start and at the end, and the nine sections come in order',
    (variant) => {
      const words = summaryPrompt({ variant })
      const only = 'Answer with text only. Do not call any tool'
      expect(words.startsWith(only)).toBe(true)
      expect(words.slice(-300)).toContain(only)
      const places = sectionTitles(variant).map((title, index) => words.indexOf(`\n${index + 1}. ${title}: `))
      expect(places).toHaveLength(9)
      expect(places.every((place, index) => place > (places[index - 1] ?? 0))).toBe(true)
    },
  )

  test('further instructions are in a part of their own near the end; blank ones make none', () => {
    const words = summaryPrompt({ instructions: '  keep it short\n\nname the ticket ' })
    expect(words).toContain('\n\nFurther instructions for this summary:\nkeep it short\n\nname the ticket\n\nRemember:')
    expect(summaryPrompt({ instructions: ' \n ' })).toBe(summaryPrompt())
  })

  test('asks for an entry on every request, in a form that cannot be mistaken for a heading, and for exact values', () => {
    const words = summaryPrompt({ maxTokens: 8_000 })
    expect(words).toContain('one entry for every request of the user, in order, none left out')
    expect(words).toContain('"- Request 1:"')
    expect(words).toContain('at most 8000 tokens (about 6000 words)')
    const entries = Array.from(
      { length: 9 },
      (_, at) => `- Request ${at + 1}: the pending files, errors and next steps.`,
    )
    const summary = sectionTitles().map(
      (title, at) => `${at + 1}. ${title}:\n${at === 4 ? entries.join('\n') : 'None'}`,
    )
    expect(readSections(summary.join('\n')).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('a window says which it is, and that what is left out is lost', () => {
    expect(summaryPrompt({ window: { number: 1, of: 3 } })).toContain('this is part 1 of 3. What you write is carried')
    expect(summaryPrompt({ window: { number: 2, of: 3 } })).toContain('what you leave out is lost')
  })
})

describe('the continuation', () => {
  const summary = 'All is well.'

  test('by hand it adds nothing, by itself it continues with the task, on its own it is no first start', () => {
    expect(continuationText({ summary, mode: 'manual' })).toBe(
      'This conversation continues from an earlier one whose context ran out. The summary below covers the earlier part.\n\nSummary:\nAll is well.',
    )
    expect(continuationText({ summary, mode: 'auto' })).toMatch(
      /Continue directly with the last task.* Do not greet, do not recap, and do not acknowledge/,
    )
    for (const mode of ['auto', 'autonomous'] as const)
      expect(continuationText({ summary, mode })).toContain('without asking the user any further questions')
    expect(continuationText({ summary, mode: 'manual' })).not.toContain('question')
    expect(continuationText({ summary, mode: 'auto' })).not.toContain('first start')
    expect(continuationText({ summary, mode: 'autonomous' })).toContain('this is not a first start')
  })

  test('it says where the rest lies and how to have it again', () => {
    const words = continuationText({ summary, mode: 'manual', transcriptPath: '/s.jsonl', recall: true })
    expect(words).toContain('with the recall tool')
    expect(words.trimEnd().endsWith('read the transcript at /s.jsonl.')).toBe(true)
  })

  test('it is known again', () => {
    const all = [undefined, 'after', 'before'] as const
    const texts = all.map((kept) => continuationText({ summary, mode: 'auto', kept }))
    expect(texts.map(isContinuation)).toEqual([true, true, true])
    expect(isContinuation('This is new.')).toBe(false)
  })
})
