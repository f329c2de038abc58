// Tests against Mastra's calls as its types describe them. examples/src/adapters/mastra.ts uses the package itself, if it is
// installed.
import { describe, expect, test } from 'vitest'
import { fakeModel, tooLong } from './adapters/ai-sdk/testing/fake-model.ts'
import { everlong, type MastraOptions } from './mastra.ts'
import { offline } from './models/offline.ts'

type Said = { readonly role: string; readonly content: string | readonly object[] }

const system: Said = { role: 'system', content: 'Be brief.' }
const long: readonly Said[] = Array.from({ length: 40 }, (_, at) => [
  { role: 'user', content: [{ type: 'text', text: `Question ${at}: ${'what does this do? '.repeat(120)}` }] },
  { role: 'assistant', content: [{ type: 'text', text: `Answer ${at}: ${'it keeps the books. '.repeat(120)}` }] },
]).flat()
const next: Said = { role: 'user', content: [{ type: 'text', text: 'And now?' }] }

function managed(options: MastraOptions = {}) {
  return everlong({ model: offline(), environment: {}, ...options })
}

function request(prompt: readonly Said[], context: Readonly<Record<string, unknown>> = {}) {
  const model = fakeModel(() => 'A summary.')
  return { prompt, model, steps: [], state: {}, requestContext: { get: (key: string) => context[key] } }
}

describe('the processor of Mastra', () => {
  test('gives back the messages themselves while they fit', async () => {
    const prompt = [system, ...long, next]
    const { prompt: sent } = await managed().processor.processLLMRequest(request(prompt))
    expect(sent).toHaveLength(prompt.length)
    for (const [at, message] of sent.entries()) expect(message).toBe(prompt[at])
  })

  test('makes a prompt smaller that is too long, and keeps its newest messages', async () => {
    const { processor } = managed({ settings: { contextWindow: 60_000 } })
    const { prompt: sent } = await processor.processLLMRequest(request([system, ...long, next]))
    expect(sent[0]).toBe(system)
    expect(sent.at(-1)).toBe(next)
    expect(JSON.stringify(sent).length).toBeLessThan(JSON.stringify(long).length / 2)
  })

  test('asks the model of the call for the summary, as a stream', async () => {
    const own = everlong({ environment: {}, settings: { contextWindow: 60_000 } })
    const asked = request([system, ...long, next])
    await own.processor.processLLMRequest(asked)
    expect(asked.model.calls.length).toBeGreaterThan(0)
    expect(own.sessions()[0]?.spent().compact.usage.input).toBeGreaterThan(0)
  })

  test('has Mastra try once more after an overflow, with a smaller prompt', async () => {
    const { processor } = managed()
    const asked = request([system, ...long, next])
    const { prompt: first } = await processor.processLLMRequest(asked)
    const failure = { error: tooLong(), state: asked.state, stepNumber: 0 }
    expect(await processor.processAPIError(failure)).toEqual({ retry: true })
    const { prompt: second } = await processor.processLLMRequest(asked)
    expect(JSON.stringify(second).length).toBeLessThan(JSON.stringify(first).length / 2)
    expect(await processor.processAPIError(failure)).toBeUndefined()
    // A later step of the run may also overflow.
    const grown = { ...asked, prompt: [...second, ...long.slice(0, 60), next] }
    await processor.processLLMRequest(grown)
    expect(await processor.processAPIError({ ...failure, stepNumber: 1 })).toEqual({ retry: true })
  })

  test('leaves every other error to Mastra', async () => {
    const { processor } = managed()
    const asked = request([next])
    await processor.processLLMRequest(asked)
    const error = Object.assign(new Error('overloaded'), { statusCode: 529 })
    expect(await processor.processAPIError({ error, state: asked.state, stepNumber: 0 })).toBeUndefined()
    expect(await processor.processAPIError({ error: tooLong(), state: {}, stepNumber: 0 })).toBeUndefined()
  })

  test('follows the model of each call', async () => {
    const own = managed()
    for (const modelId of ['claude-sonnet-4-6', 'gpt-4o', 'claude-sonnet-4-6']) {
      const call = request([system, next])
      await own.processor.processLLMRequest({ ...call, model: { ...call.model, modelId } })
      expect(own.sessions().map((session) => session.explain().model)).toEqual([modelId])
    }
  })

  test('holds one session for each thread', async () => {
    const own = managed()
    const inThread = (id: string) => request([next], { MastraMemory: { thread: { id } } })
    await own.processor.processLLMRequest(inThread('a'))
    await own.processor.processLLMRequest(inThread('b'))
    await own.processor.processLLMRequest(request([next], { mastra__threadId: 'a' }))
    expect(own.sessions()).toHaveLength(2)
  })
})
