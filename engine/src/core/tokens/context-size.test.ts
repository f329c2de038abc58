import { describe, expect, test } from 'vitest'
import type { ViewMessage } from '../message/message.ts'
import type { Usage } from '../message/usage.ts'
import { type ContextSize, contextSize, modelOf } from './context-size.ts'
import { countTokens } from './estimate/counting.ts'

const usage = (input: number, output = 50): Usage => ({
  input,
  output,
  cacheRead: 1_000,
  cacheWrite: 200,
  cacheWriteHour: 0,
})
const human = (text: string, more: Partial<ViewMessage> = {}): ViewMessage => ({
  role: 'user',
  origin: 'human',
  content: text,
  ...more,
})
const answer = (messageId: string | undefined, more: Partial<ViewMessage> = {}): ViewMessage => ({
  role: 'assistant',
  origin: 'assistant',
  content: [{ type: 'text', text: 'yes' }],
  ...(messageId === undefined ? {} : { messageId }),
  ...more,
})
const result = (id: string, text: string): ViewMessage => ({
  role: 'user',
  origin: 'tool-result',
  content: [{ type: 'tool_result', tool_use_id: id, content: text }],
})
const quarter = { estimator: 'chars/4' } as const
const letters = (count: number) => 'x'.repeat(count)
const size = (messages: readonly ViewMessage[], options = {}): ContextSize =>
  contextSize(messages, { ...quarter, ...options })

describe('the context size', () => {
  test('is the usage alone when nothing came after it: cached tokens and output occupy the window too', () => {
    expect(size([human('hi'), answer('a', { usage: usage(10), uuid: 'u1' })])).toEqual({
      tokens: 1_260,
      reported: 1_260,
      estimated: 0,
      source: 'usage',
      anchorUuid: 'u1',
    })
  })

  test('adds an estimate of what came after, with the margin of a third on the estimate only', () => {
    expect(size([answer('a', { usage: usage(10) }), human(letters(400))])).toEqual({
      tokens: 1_260 + 134,
      reported: 1_260,
      estimated: 134,
      source: 'usage+estimate',
    })
  })

  test('is an estimate where there is no usage, the overhead of system and tools included', () => {
    expect(size([human(letters(400)), answer('a')], { overhead: 200 })).toEqual({
      tokens: Math.ceil(((100 + 1 + 200) * 4) / 3),
      reported: 0,
      estimated: Math.ceil(((100 + 1 + 200) * 4) / 3),
      source: 'estimate',
    })
  })

  test('anchors on the first piece of an answer that is interleaved with its results', () => {
    const messages = [
      human('go'),
      answer('a', { usage: usage(10, 1), uuid: 'first' }),
      result('t1', letters(400)),
      answer('a', { usage: usage(10, 90), uuid: 'second' }),
      result('t2', letters(800)),
    ]
    expect(size(messages)).toEqual({
      tokens: 1_300 + 400,
      reported: 1_300,
      estimated: 400,
      source: 'usage+estimate',
      anchorUuid: 'first',
    })
  })

  test('takes the size of the last iteration where the answer lists them', () => {
    const looped = {
      ...usage(10),
      iterations: [
        { ...usage(5), type: 'message' },
        { ...usage(300), type: 'message' },
      ],
    }
    expect(size([answer('a', { usage: looped })]).tokens).toBe(1_550)
  })

  test('passes over synthetic messages and usage of zeros', () => {
    const zeros = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
    const messages = [
      answer('a', { usage: usage(10) }),
      answer('b', { usage: zeros }),
      answer('c', { model: '<synthetic>' }),
    ]
    expect(size(messages)).toEqual({ tokens: 1_263, reported: 1_260, estimated: 3, source: 'usage+estimate' })
  })

  test('does not believe usage from before a summary, nor that of older messages kept behind it', () => {
    const summary = human('In short …', { origin: 'summary', time: 500 })
    const kept = answer('a', { usage: usage(10), time: 400 })
    expect(size([kept, summary, human('go')]).source).toBe('estimate')
    expect(size([summary, kept, human('go')]).source).toBe('estimate')
    expect(size([summary, kept, answer('b', { usage: usage(10), time: 600 })]).source).toBe('usage')
  })

  test('estimates a long answer whose output count is the stub of a stream', () => {
    const long = [{ type: 'text', text: letters(4_000) }]
    expect(size([answer('a', { usage: usage(10, 3), content: long })])).toEqual({
      tokens: 1_213 + 1_334,
      reported: 1_213,
      estimated: 1_334,
      source: 'usage+estimate',
    })
  })

  test('scales the estimate to the model and to what was learned about it', () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(50)
    const plain = countTokens([human(text)])
    expect(countTokens([human(text)], { model: 'claude-opus-4-5' })).toBe(Math.round(plain * 1.25))
    expect(countTokens([human(text)], { model: 'claude-opus-5' })).toBe(Math.round(plain * 1.6))
    expect(countTokens([human(text)], { model: 'gpt-5', calibration: { factor: 1.1 } })).toBe(Math.round(plain * 1.1))
  })

  test('is counted for the model of the newest answer when none is given', () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(50)
    const messages = [answer('a', { usage: usage(10), model: 'claude-opus-5' }), human(text)]
    expect(contextSize(messages)).toEqual(contextSize(messages, { model: 'claude-opus-5' }))
  })

  test('the model is that of the newest real answer', () => {
    expect(modelOf([answer('a', { model: 'claude-opus-5' }), answer('b', { model: '<synthetic>' }), human('x')])).toBe(
      'claude-opus-5',
    )
    expect(modelOf([human('x')])).toBeUndefined()
  })
})
