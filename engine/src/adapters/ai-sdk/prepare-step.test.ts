import { generateText, type ModelMessage, streamText } from 'ai'
import { expect, test } from 'vitest'
import { everlong } from '../../ai-sdk.ts'
import { type JsonObject, objectAt } from '../../core/message/json.ts'
import { offline } from '../../models/offline.ts'
import { fakeModel } from './testing/fake-model.ts'

test.each(['whole', 'streamed'] as const)(
  'the model gets marks for the prompt cache, and the messages of the run stay unmarked: %s answers',
  async (how) => {
    const sentWith = async (cacheMarks: '5m' | '1h' | false, own?: object) => {
      const fake = fakeModel(() => 'Fine.')
      const { prepareStep, close } = everlong({ model: offline(), environment: {}, settings: { cacheMarks } })
      const messages: ModelMessage[] = [
        { role: 'user', content: 'One.', ...own },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: 'Two.' },
      ]
      const given = structuredClone(messages)
      const call = { model: fake, instructions: 'Be kind.', messages, prepareStep }
      if (how === 'whole') await generateText(call)
      else await streamText(call).consumeStream()
      await close()
      expect(messages).toEqual(given)
      const prompt = fake.calls[0]?.prompt as readonly {
        readonly role: string
        readonly providerOptions?: JsonObject
      }[]
      return prompt.map(({ role, providerOptions }) => [role, objectAt(providerOptions, 'anthropic')?.cacheControl])
    }
    const short = { type: 'ephemeral' }
    const marked = (mark: object) => [
      ['system', mark],
      ['user', mark],
      ['assistant', undefined],
      ['user', mark],
    ]
    expect(await sentWith('5m')).toEqual(marked(short))
    expect(await sentWith('1h')).toEqual(marked({ ...short, ttl: '1h' }))
    const none = [undefined, undefined, undefined, undefined]
    expect((await sentWith(false)).map(([, mark]) => mark)).toEqual(none)
    // The host's own marks stay, and none is added.
    const host = { providerOptions: { anthropic: { cacheControl: short } } }
    expect((await sentWith('5m', host)).map(([, mark]) => mark)).toEqual([undefined, short, undefined, undefined])
  },
)

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
    // An answer is recorded when the next call passes it in.
    await own.prepareStep({ messages, model: fake, steps: [], instructions: '', runtimeContext: {} })
    const [session] = own.sessions()
    expect(session?.spent().turn.usage).toMatchObject({ input: 2_100, output: 90, cacheRead: 600, cacheWrite: 300 })
    expect(fake.calls).toHaveLength(3)
    await own.close()
  },
)
