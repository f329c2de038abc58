// A language model of the AI SDK for tests: plays the given script and remembers its requests.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'

type Play = (call: LanguageModelV4CallOptions, count: number) => string | Error

export type FakeModel = LanguageModelV4 & { readonly calls: readonly LanguageModelV4CallOptions[] }

export const fakeUsage = {
  inputTokens: { total: 1_000, noCache: 700, cacheRead: 200, cacheWrite: 100 },
  outputTokens: { total: 30, text: 30, reasoning: 0 },
}

/** An error before the stream begins is thrown; `inStream` makes it the first part. */
export function fakeModel(play: Play, options: { readonly inStream?: boolean } = {}): FakeModel {
  const calls: LanguageModelV4CallOptions[] = []
  const played = (call: LanguageModelV4CallOptions): string | Error => {
    calls.push(call)
    return play(call, calls.length)
  }
  const finishReason = { unified: 'stop', raw: 'end_turn' } as const
  return {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'fake-1',
    supportedUrls: {},
    calls,
    doGenerate: async (call) => {
      const said = played(call)
      if (said instanceof Error) throw said
      const response = { id: `answer-${calls.length}`, modelId: 'fake-1' }
      return { content: [{ type: 'text', text: said }], finishReason, usage: fakeUsage, warnings: [], response }
    },
    doStream: async (call) => {
      const said = played(call)
      if (said instanceof Error && !options.inStream) throw said
      const parts: LanguageModelV4StreamPart[] =
        said instanceof Error
          ? [
              { type: 'stream-start', warnings: [] },
              { type: 'error', error: said },
            ]
          : [
              { type: 'stream-start', warnings: [] },
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: said },
              { type: 'text-end', id: '1' },
              { type: 'finish', usage: fakeUsage, finishReason },
            ]
      return { stream: streamOf(parts) }
    },
  }
}

function streamOf<Part>(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

export function tooLong(): Error {
  const message = 'prompt is too long: 61000 tokens > 60000 maximum'
  return Object.assign(new Error(message), { statusCode: 400, responseBody: JSON.stringify({ error: { message } }) })
}
