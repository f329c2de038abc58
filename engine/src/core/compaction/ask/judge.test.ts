import { describe, expect, test } from 'vitest'
import type { Block } from '../../message/block.ts'
import { noTokens } from '../../message/usage.ts'
import { summaryPrompt } from '../../prompts/summary.ts'
import { formatSummary, judgeSummary } from './judge.ts'

const good = '1. Primary request and intent:\n- Find out why the parser drops the last line of src/parse.ts.'
const text = (words: string): Block => ({ type: 'text', text: words })

const judged = (content: readonly Block[], stopReason = 'end_turn', sourceTokens = 1_000) =>
  judgeSummary({
    answer: { type: 'answer', id: 'm', model: 'm', content, stopReason, usage: noTokens },
    prompt: summaryPrompt(),
    countTokens: (words) => Math.ceil(words.length / 4),
    sourceTokens,
  })

describe('formatting', () => {
  test('takes the scratchpad and the tags off, and folds blank lines', () => {
    const answer = `<analysis>\nfirst <summary> then\n</analysis>\n\n<summary>\n${good}\n\n\n\n2. Key  \n</summary>\nbye`
    expect(formatSummary(answer)).toEqual({ text: `${good}\n\n2. Key`, isOpen: false })
  })

  test('takes an answer without tags whole, and says when a block never ended', () => {
    expect(formatSummary(`${good}\n`)).toEqual({ text: good, isOpen: false })
    expect(formatSummary(`<summary>${good}`)).toEqual({ text: good, isOpen: true })
    expect(formatSummary('<analysis>thinking and thinking')).toEqual({ text: '', isOpen: true })
  })

  // Found in a recorded session that was about compaction itself.
  test('words that only speak of the tags are left alone', () => {
    const words = `${good}\n${Array(30).fill('More about it.').join(' ')}\n- Write an \`<analysis>\` block, then a \`<summary>\` block.`
    expect(formatSummary(words)).toEqual({ text: words, isOpen: false })
    expect(formatSummary(`<summary>\n${words}\n</summary>`)).toEqual({ text: words, isOpen: false })
    expect(formatSummary(`Here it is: <summary>${good}</summary>`)).toEqual({ text: good, isOpen: false })
  })

  test('a summary that speaks of its own tags ends at the last one', () => {
    expect(formatSummary('<summary>the tag </summary> is parsed</summary>').text).toBe('the tag </summary> is parsed')
  })
})

describe('judging', () => {
  test('takes a summary', () => {
    expect(judged([text(`<summary>${good}</summary>`)])).toEqual({ type: 'summary', text: good })
    expect(judged([{ type: 'thinking', thinking: 'hm', signature: 's' }, text(good)])).toEqual({
      type: 'summary',
      text: good,
    })
  })

  const refusals: readonly (readonly [string, readonly Block[], string])[] = [
    ['nothing', [], 'no_summary'],
    ['blank', [text('  \n')], 'no_summary'],
    ['a call', [text(good), { type: 'tool_use', id: 't', name: 'Read', input: {} }], 'no_summary'],
    ['a call of the server’s', [text(good), { type: 'server_tool_use', id: 't', name: 'x', input: {} }], 'no_summary'],
    ['only a scratchpad', [text('<analysis>all of it</analysis>')], 'no_summary'],
    ['an empty summary', [text('<analysis>x</analysis><summary></summary>')], 'no_summary'],
    ['a placeholder', [text('<summary>[summary unavailable]</summary>')], 'no_summary'],
    ['what a client says', [text('No response requested.')], 'no_summary'],
    ['dots', [text('...')], 'no_summary'],
    [
      'an excuse',
      [text('I’m sorry, but I cannot help with summarizing this conversation. I can’t.'.replaceAll('’', "'"))],
      'no_summary',
    ],
    ['an error', [text('API Error: 529 {"type":"error"}')], 'api_error'],
    ['langchain’s error', [text('Error generating summary: Connection error.')], 'api_error'],
    ['an error as JSON', [text('{"type":"error","error":{"type":"overloaded_error"}}')], 'api_error'],
    ['an error in tags', [text('<summary>Prompt is too long</summary>')], 'api_error'],
    ['the question', [text(summaryPrompt())], 'no_summary'],
    ['a loop', [text(`${good} ${'and then it went on '.repeat(60)}`)], 'no_summary'],
  ]
  test.for(refusals)('refuses %s', ([, content, reason]) => {
    expect(judged(content)).toMatchObject({ type: 'refused', reason })
  })

  test('refuses what is not smaller than its source, and what the model would not say', () => {
    expect(judged([text(good)], 'end_turn', 10)).toMatchObject({ type: 'refused', reason: 'no_progress' })
    expect(judged([text(good)], 'refusal')).toMatchObject({ type: 'refused', reason: 'no_summary' })
  })

  test('an answer without its closing tag is whole when the model stopped by itself, and cut off at the output limit', () => {
    const open = [text(`<analysis>x</analysis><summary>${good}`)]
    expect(judged(open)).toEqual({ type: 'summary', text: good })
    expect(judged(open, 'max_tokens')).toMatchObject({ type: 'refused', reason: 'no_summary' })
    expect(judged([text(good)], 'max_tokens')).toMatchObject({ type: 'refused', reason: 'no_summary' })
    expect(judged([text('<analysis>all of it')])).toMatchObject({ type: 'refused', reason: 'no_summary' })
  })

  test('speaking of errors is no error', () => {
    expect(judged([text(`${good}\n4. Errors and fixes:\n- API Error: 529 came twice, and went away.`)]).type).toBe(
      'summary',
    )
  })
})
