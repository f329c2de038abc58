import { generateText, type ModelMessage, streamText } from 'ai'
import { expect, test } from 'vitest'
import { everlong } from '../../ai-sdk.ts'
import { offline } from '../../models/offline.ts'
import { fakeModel } from './testing/fake-model.ts'

test.each(['whole', 'streamed'] as const)(
  'what the last step of a run used counts, although no later step of the run is told of it: %s answers',
  async (how) => {
    const fake = fakeModel(() => 'Fine.')
    const own = everlong({ model: offline(), environment: {} })
    const messages: ModelMessage[] = []
    for (const content of ['One.', 'Two.', 'Three.']) {
      messages.push({ role: 'user', content })
      const call = { model: fake, messages, prepareStep: own.prepareStep }
      if (how === 'whole') messages.push(...(await generateText(call)).responseMessages)
      else {
        const result = streamText(call)
        await result.consumeStream()
        messages.push(...(await result.responseMessages))
      }
    }
    // An answer is recorded when the next call hands it over.
    await own.prepareStep({ messages, model: fake, steps: [], instructions: '', runtimeContext: {} })
    const [session] = own.sessions()
    expect(session?.spent().turn.usage).toMatchObject({ input: 2_100, output: 90, cacheRead: 600, cacheWrite: 300 })
    expect(fake.calls).toHaveLength(3)
    await own.close()
  },
)
