import { describe, expect, test } from 'vitest'
import type { Block } from '../../message/message.ts'
import { noTokens } from '../../message/usage.ts'
import type { AbortSignalPort } from '../../ports/model.ts'
import { summaryPrompt } from '../../prompts/summary.ts'
import { scripted } from '../../session/testing/world.ts'
import { ask, formatSummary, judgeSummary } from './asker.ts'

test('a broken stream is asked for again after a pause, and after a longer one the next time', async () => {
  const waits: number[] = []
  const model = scripted(() => ({ type: 'failed', reason: 'transient', message: 'reset', tries: 1 }))
  const wait = (ms: number, signal?: AbortSignalPort) =>
    new Promise<void>((resolve) => {
      if (ms >= 30_000) return signal?.addEventListener('abort', () => resolve())
      waits.push(ms)
      resolve()
    })
  const run = { ports: { model, wait, emit: () => undefined }, tried: [], usage: noTokens, attempts: 0 }
  const request = { source: 'compact', model: model.model, messages: [] } as const
  const asked = await ask(run as never, {
    mechanism: 'direct',
    request,
    prompt: '',
    sourceTokens: 9,
    sends: 3,
    countTokens: () => 1,
  })
  expect(asked).toMatchObject({ type: 'failed', reason: 'api-error' })
  expect([model.requests.length, run.attempts]).toEqual([3, 3])
  expect(waits).toEqual([1_000, 2_000])
})

const good = '1. Primary request and intent:\n- Find out why the parser drops the last line of src/parse.ts.'
const text = (words: string): Block => ({ type: 'text', text: words })

const judged = (content: readonly Block[], stopReason = 'end_turn', sourceTokens = 1_000) =>
  judgeSummary({
    answer: { type: 'answer', id: 'm', model: 'm', content, stopReason, usage: noTokens },
    prompt: summaryPrompt(),
    countTokens: (words) => Math.ceil(words.length / 4),
    sourceTokens,
  })

test('a summary must have fewer tokens than what it is made from', () => {
  const tokens = Math.ceil(good.length / 4)
  expect([tokens - 1, tokens].map((source) => judged([text(good)], 'end_turn', source))).toMatchObject([
    { type: 'failed', reason: 'no-progress' },
    { type: 'failed', reason: 'no-progress' },
  ])
  expect(judged([text(good)], 'end_turn', tokens + 1)).toBe(good)
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

  // From a recorded session about compaction itself.
  test('words that only speak of the tags are left alone', () => {
    const words = `${good}\n${Array(30).fill('More about it.').join(' ')}\n- Write an \`<analysis>\` block, then a \`<summary>\` block.`
    expect(formatSummary(words)).toEqual({ text: words, isOpen: false })
    expect(formatSummary(`<summary>\n${words}\n</summary>`)).toEqual({ text: words, isOpen: false })
    expect(formatSummary(`Here it is: <summary>${good}</summary>`)).toEqual({ text: good, isOpen: false })
  })

  test('a summary that speaks of its own tags ends at the last one', () => {
    expect(formatSummary('<summary>the tag </summary> is parsed</summary>').text).toBe('the tag </summary> is parsed')
  })

  test('a block that a quoted text closes, and the model does not, is kept whole', () => {
    const quoted = '6. All user messages:\n- "<task> <summary>Tests passed</summary> </task>"\n- "continue"'
    const rest = '7. Pending tasks:\n- Push.\n9. Optional next step: push.'
    const whole = `${quoted}\n${rest}`
    expect(formatSummary(`<summary>${whole}`)).toEqual({ text: whole, isOpen: true })
    expect(formatSummary(`<summary>${whole}\n</summary>`)).toEqual({ text: whole, isOpen: false })
    expect(formatSummary(`<summary>${whole}\n</summary>\nThat is all.`)).toEqual({ text: whole, isOpen: false })
    const mention = 'Written as the <summary> block.'
    expect(formatSummary(`<summary>${mention}</summary>`)).toEqual({ text: mention, isOpen: false })
    // Nothing but the line itself says that the tag is quoted.
    expect(formatSummary(`<summary>${quoted}`)).toEqual({ text: quoted, isOpen: true })
    const long = `6. All user messages:\n<summary>\nTests passed\n</summary>\n${rest}`
    expect(formatSummary(`<summary>${long}`)).toEqual({ text: long, isOpen: true })
  })
})

describe('judging', () => {
  test('takes a summary', () => {
    expect(judged([text(`<summary>${good}</summary>`)])).toBe(good)
    expect(judged([{ type: 'thinking', thinking: 'hm', signature: 's' }, text(good)])).toBe(good)
  })

  const refusals: readonly (readonly [string, readonly Block[], string])[] = [
    ['nothing', [], 'no-summary'],
    ['blank', [text('  \n')], 'no-summary'],
    ['a call', [text(good), { type: 'tool_use', id: 't', name: 'Read', input: {} }], 'no-summary'],
    ['a call of the server’s', [text(good), { type: 'server_tool_use', id: 't', name: 'x', input: {} }], 'no-summary'],
    ['only a scratchpad', [text('<analysis>all of it</analysis>')], 'no-summary'],
    ['an empty summary', [text('<analysis>x</analysis><summary></summary>')], 'no-summary'],
    ['a placeholder', [text('<summary>[summary unavailable]</summary>')], 'no-summary'],
    ['what a client says', [text('No response requested.')], 'no-summary'],
    ['dots', [text('...')], 'no-summary'],
    [
      'an excuse',
      [text('I’m sorry, but I cannot help with summarizing this conversation. I can’t.'.replaceAll('’', "'"))],
      'no-summary',
    ],
    ['an error', [text('API Error: 529 {"type":"error"}')], 'api-error'],
    ['langchain’s error', [text('Error generating summary: Connection error.')], 'api-error'],
    ['an error as JSON', [text('{"type":"error","error":{"type":"overloaded_error"}}')], 'api-error'],
    ['an error in tags', [text('<summary>Prompt is too long</summary>')], 'api-error'],
    ['the question', [text(summaryPrompt())], 'no-summary'],
    ['a loop', [text(`${good} ${'and then it went on '.repeat(60)}`)], 'no-summary'],
  ]
  test.for(refusals)('refuses %s', ([, content, reason]) => {
    expect(judged(content)).toMatchObject({ type: 'failed', reason })
  })

  test('refuses what is not smaller than its source, and what the model would not say', () => {
    expect(judged([text(good)], 'end_turn', 10)).toMatchObject({ type: 'failed', reason: 'no-progress' })
    expect(judged([text(good)], 'refusal')).toMatchObject({ type: 'failed', reason: 'no-summary' })
  })

  test('an answer without its closing tag is whole when the model stopped by itself, and cut off at the output limit', () => {
    const open = [text(`<analysis>x</analysis><summary>${good}`)]
    expect(judged(open)).toBe(good)
    expect(judged(open, 'max_tokens')).toMatchObject({ type: 'failed', reason: 'no-summary' })
    expect(judged([text(good)], 'max_tokens')).toMatchObject({ type: 'failed', reason: 'no-summary' })
    expect(judged([text('<analysis>all of it')])).toMatchObject({ type: 'failed', reason: 'no-summary' })
  })

  test('speaking of errors is no error', () => {
    expect(judged([text(`${good}\n4. Errors and fixes:\n- API Error: 529 came twice, and went away.`)])).toContain(good)
  })
})
