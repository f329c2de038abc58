import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { generateText, type ModelMessage, streamText, wrapLanguageModel } from 'ai'
import { describe, expect, test } from 'vitest'
import { type AiSdkOptions, everlong } from '../../ai-sdk.ts'
import { offline } from '../../models/offline.ts'
import { jsonlSessions } from '../../stores/disk/jsonl.ts'
import { type FakeModel, fakeModel, tooLong } from './testing/fake-model.ts'

/** About 60,000 tokens of old work. */
const long: readonly ModelMessage[] = Array.from({ length: 40 }, (_, at): readonly ModelMessage[] => [
  { role: 'user', content: `Question ${at}: ${'what does this module do? '.repeat(100)}` },
  { role: 'assistant', content: `Answer ${at}: ${'it keeps the books. '.repeat(100)}` },
]).flat()
const next: ModelMessage = { role: 'user', content: 'And now?' }
const messages = [...long, next]

function managed(model: LanguageModelV4, options: AiSdkOptions = {}) {
  const own = everlong({ model: offline(), environment: {}, ...options })
  return { own, model: wrapLanguageModel({ model, middleware: own.middleware }) }
}

function promptSizes({ calls }: FakeModel): readonly number[] {
  return calls.map(({ prompt }) => JSON.stringify(prompt).length)
}

describe('the middleware', () => {
  test('sends a prompt that fits as it is, and records usage when the answer comes back', async () => {
    const fake = fakeModel(() => 'fine')
    const { model, own } = managed(fake)
    const providerOptions = { fake: { anything: 1 } }
    const first: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'Hello', providerOptions }] }
    const { responseMessages } = await generateText({ model, messages: [first], maxRetries: 0 })
    expect(fake.calls[0]?.prompt).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'Hello', providerOptions }] },
    ])
    await generateText({ model, messages: [first, ...responseMessages, next], maxRetries: 0 })
    const [session] = own.sessions()
    expect(session?.messages().map(({ role, usage }) => [role, usage?.input, usage?.cacheRead])).toEqual([
      ['user', undefined, undefined],
      ['assistant', 700, 200],
      ['user', undefined, undefined],
    ])
  })

  test('reduces a prompt that is too long before it is sent', async () => {
    const fake = fakeModel(() => 'fine')
    const { model } = managed(fake, { settings: { contextWindow: 60_000 } })
    await generateText({ model, messages, maxRetries: 0 })
    const [size = 0] = promptSizes(fake)
    expect(size).toBeLessThan(JSON.stringify(messages).length / 2)
    expect(fake.calls[0]?.prompt.at(-1)).toMatchObject({ content: [{ type: 'text', text: 'And now?' }] })
  })

  test('recovers once when the provider says that the prompt was too long', async () => {
    const fake = fakeModel((_, count) => (count === 1 ? tooLong() : 'fine'))
    const { model } = managed(fake)
    const { text } = await generateText({ model, messages, maxRetries: 0 })
    expect(text).toBe('fine')
    const [first = 0, second = 0] = promptSizes(fake)
    expect(second).toBeLessThan(first / 2)
  })

  test.each([false, true])('recovers a stream, also one that fails after it began (%s)', async (inStream) => {
    const fake = fakeModel((_, count) => (count === 1 ? tooLong() : 'fine'), { inStream })
    const { model, own } = managed(fake)
    const result = streamText({ model, messages, maxRetries: 0 })
    expect(await result.text).toBe('fine')
    expect((await result.usage).inputTokens).toBe(1_000)
    expect(fake.calls).toHaveLength(2)
    await generateText({ model, messages: [...messages, ...(await result.responseMessages), next], maxRetries: 0 })
    expect(
      own
        .sessions()[0]
        ?.messages()
        .some(({ usage }) => usage?.input === 700),
    ).toBe(true)
  })

  test('throws the first error when the second prompt is too long as well', async () => {
    const errors = [tooLong(), tooLong()]
    const fake = fakeModel((_, count) => errors[count - 1] ?? 'fine')
    const { model } = managed(fake)
    await expect(generateText({ model, messages, maxRetries: 0 })).rejects.toBe(errors[0])
    expect(fake.calls).toHaveLength(2)
  })

  test('passes every other error as it is', async () => {
    const error = Object.assign(new Error('rate limit'), { statusCode: 429 })
    const fake = fakeModel(() => error)
    const { model } = managed(fake)
    await expect(generateText({ model, messages, maxRetries: 0 })).rejects.toBe(error)
    expect(fake.calls).toHaveLength(1)
  })

  test('asks the model that is called for the summary, unless it is told another one', async () => {
    const fake = fakeModel(({ prompt }) => (JSON.stringify(prompt).includes('And now?"}]}]') ? 'fine' : 'no summary'))
    const own = everlong({ environment: {}, settings: { contextWindow: 60_000 } })
    const model = wrapLanguageModel({ model: fake, middleware: own.middleware })
    await generateText({ model, messages, maxRetries: 0 })
    expect(fake.calls.length).toBeGreaterThan(1)
    expect(own.sessions()[0]?.spent().compact.usage.input).toBeGreaterThan(0)
  })

  test('goes by the window of the model that is called, whichever model writes the summaries', async () => {
    const claude = { ...fakeModel(() => 'fine'), modelId: 'claude-sonnet-4-6' }
    const summarizer = fakeModel(() => 'A summary.')
    const own = everlong({ environment: { EVERLONG_AUTO_COMPACT_WINDOW: '60000' }, model: summarizer })
    await generateText({ model: wrapLanguageModel({ model: claude, middleware: own.middleware }), messages })
    expect(own.sessions()[0]?.explain()).toMatchObject({ model: 'claude-sonnet-4-6' })
    expect([summarizer.calls.length > 0, claude.calls.length]).toEqual([true, 1])
  })

  test('follows the model of each call, which also writes the summary', async () => {
    const own = everlong({ environment: {} })
    const history: ModelMessage[] = []
    const ask = async (modelId: string, content: string) => {
      const fake = { ...fakeModel(() => 'A summary.'), modelId }
      history.push({ role: 'user', content })
      const model = wrapLanguageModel({ model: fake, middleware: own.middleware })
      history.push(...(await generateText({ model, messages: history, maxRetries: 0 })).responseMessages)
      const [session, ...others] = own.sessions()
      expect([session?.explain().model, others]).toEqual([modelId, []])
      return fake
    }
    const large = await ask('claude-sonnet-4-6', 'Hello.')
    await ask('gpt-4o', 'And now?')
    const small = await ask('claude-haiku-4-5', `Read this. ${'It keeps the books. '.repeat(2_000)}`)
    const asked = () => [large, small].map(({ calls }) => calls.length)
    const before = asked()
    expect(await own.sessions()[0]?.compact()).toMatchObject({ type: 'compacted' })
    expect(asked().map((count, at) => count > (before[at] ?? 0))).toEqual([false, true])
  })

  test('tells conversations apart by the id in the provider options', async () => {
    const fake = fakeModel(() => 'fine')
    const { model, own } = managed(fake)
    const say = (sessionId: string) =>
      generateText({ model, messages: [next], maxRetries: 0, providerOptions: { everlong: { sessionId } } })
    await say('a')
    await say('b')
    await say('a')
    expect(own.sessions()).toHaveLength(2)
  })
})

test('a session on disk is continued by another process, and no message is written twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-ai-sdk-'))
  const all: ModelMessage[] = [next]
  for (let time = 0; time < 3; time++) {
    const { model, own } = managed(
      fakeModel(() => `fine ${time}`),
      { store: jsonlSessions({ folder }), sessionId: 'chat' },
    )
    const { responseMessages } = await generateText({ model, messages: all, maxRetries: 0 })
    all.push(...responseMessages, { role: 'user', content: `Question ${time}` })
    await own.close()
  }
  const said = readFileSync(join(folder, 'chat.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => /"type":"(user|assistant)"/.test(line))
  expect(said.map((line) => /And now|fine \d|Question \d/.exec(line)?.[0])).toEqual([
    'And now',
    'fine 0',
    'Question 0',
    'fine 1',
    'Question 1',
  ])
  rmSync(folder, { recursive: true })
})

describe('prepareStep', () => {
  const step = { steps: [], model: fakeModel(() => 'fine'), instructions: 'Be brief.', runtimeContext: {} }

  test('gives back the messages themselves while they fit', async () => {
    const own = everlong({ model: offline(), environment: {} })
    const { messages: sent } = await own.prepareStep({ ...step, messages })
    expect(sent).toHaveLength(messages.length)
    for (const [at, message] of sent.entries()) expect(message).toBe(messages[at])
  })

  test('keeps the newest messages when it reduces, and continues from what it gave back', async () => {
    const own = everlong({ model: offline(), environment: {}, settings: { contextWindow: 60_000 } })
    const { messages: sent } = await own.prepareStep({ ...step, messages })
    expect(sent.at(-1)).toBe(next)
    const steering: ModelMessage = { role: 'user', content: 'Stop at the first error.' }
    const carried = [...sent, { role: 'assistant', content: 'Yes.' } satisfies ModelMessage, steering]
    const { messages: again } = await own.prepareStep({ ...step, messages: carried })
    expect(again).toEqual(carried)
    expect(again.at(-1)).toBe(steering)
    expect(own.sessions()).toHaveLength(1)
  })

  test('follows the model of each step; one that is known only by its name keeps the model before', async () => {
    const own = everlong({ environment: {} })
    const taken = async (model: typeof step.model | string) => {
      await own.prepareStep({ ...step, model, messages: [next] })
      return own.sessions().map((session) => session.explain().model)
    }
    const named = (modelId: string) => ({ ...step.model, modelId })
    expect(await taken(named('gpt-4o'))).toEqual(['gpt-4o'])
    expect(await taken(named('claude-haiku-4-5'))).toEqual(['claude-haiku-4-5'])
    expect(await taken('gpt-4o')).toEqual(['claude-haiku-4-5'])
  })

  test('says what to do when the model is known only by its name', async () => {
    const own = everlong({ environment: {} })
    await expect(own.prepareStep({ ...step, model: 'anthropic/claude', messages })).rejects.toThrow(/Pass `model`/)
  })
})

test('a reader that stops after a recovery cancels the second stream', async () => {
  let cancelled: unknown
  const fake = fakeModel((_, count) => (count === 1 ? tooLong() : 'fine'), { inStream: true })
  const open: LanguageModelV4 = {
    ...fake,
    doStream: async (call) => {
      const { stream } = await fake.doStream(call)
      if (fake.calls.length === 1) return { stream }
      const parts = new ReadableStream({
        start: (controller) => controller.enqueue({ type: 'text-start', id: '1' }),
        cancel: (reason) => {
          cancelled = reason
        },
      })
      return { stream: parts }
    },
  }
  const { model } = managed(open)
  const { stream } = await model.doStream({
    prompt: messages.map(({ role, content }) => ({
      role,
      content: [{ type: 'text', text: String(content) }],
    })) as never,
  })
  const reader = stream.getReader()
  for (let part = await reader.read(); part.value?.type !== 'text-start'; ) part = await reader.read()
  await reader.cancel('enough')
  expect([fake.calls.length, cancelled]).toEqual([2, 'enough'])
})

test('everything else of a call reaches the provider as it was given, before and after a recovery', async () => {
  const fake = fakeModel((_, count) => (count === 1 ? tooLong() : 'fine'))
  const { model } = managed(fake)
  const providerOptions = { everlong: { sessionId: 'a' }, fake: { mood: 'calm' } }
  const given = { temperature: 0.3, topK: 7, seed: 4, maxOutputTokens: 900, stopSequences: ['END'] }
  await generateText({ model, messages, maxRetries: 0, headers: { 'x-trace': '1' }, providerOptions, ...given })
  expect(fake.calls).toHaveLength(2)
  for (const call of fake.calls) {
    expect(call).toMatchObject({ ...given, headers: { 'x-trace': '1' }, providerOptions: { fake: { mood: 'calm' } } })
  }
})
