// One `generateText` of the AI SDK through the middleware, with a model that answers at once.
import { generateText, wrapLanguageModel } from 'ai'
import { everlong } from 'everlong/ai-sdk'

const { middleware, close } = everlong({ sessionId: 'chat' })
const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 },
}
const model: Parameters<typeof wrapLanguageModel>[0]['model'] = {
  specificationVersion: 'v4',
  provider: 'walk',
  modelId: 'claude-sonnet-4-6',
  supportedUrls: {},
  doGenerate: async () => ({
    content: [{ type: 'text', text: 'Good morning.' }],
    finishReason: { unified: 'stop', raw: 'end_turn' },
    usage,
    warnings: [],
  }),
  doStream: async () => {
    throw new Error('Nothing streams here.')
  },
}
const { text } = await generateText({ model: wrapLanguageModel({ model, middleware }), prompt: 'Hello' })
if (text !== 'Good morning.') throw new Error(`Unexpected answer: ${text}`)
await close()
