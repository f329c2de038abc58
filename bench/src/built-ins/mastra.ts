// Mastra: its token limiter and our processor, each as it runs before a model call.
import type { ModelMessage } from 'ai'
import { everlong } from 'everlong/mastra'
import { toModelMessages } from '../peers/ai-sdk.ts'
import { tokenLimiter } from '../peers/mastra.ts'
import { modelOf, plain, sending } from './ai-sdk.ts'
import { type Contender, oursBy, type Sdk } from './contender.ts'

const limiting: Contender = {
  name: 'TokenLimiter',
  isOurs: false,
  start: async ({ world, limit }) => {
    const limiter = await tokenLimiter(limit)
    const send = sending(world, modelOf(world))
    const system = { role: 'system', content: world.system } as ModelMessage
    let list: readonly ModelMessage[] = []
    return async (added) => {
      list = [...list, ...toModelMessages(added)]
      const trimmed = await limiter.processLLMRequest({ prompt: [system, ...list] })
      await send(trimmed ? trimmed.prompt.slice(1) : list)
    }
  },
}

const ours = oursBy('processor', ({ world }, options) => {
  const { processor } = everlong({ ...options, sessionId: 'one' })
  const model = modelOf(world)
  const send = sending(world, model)
  const system = { role: 'system', content: world.system } as ModelMessage
  const steps: object[] = []
  let list: readonly ModelMessage[] = []
  return async (added) => {
    list = [...list, ...toModelMessages(added)]
    const { prompt } = await processor.processLLMRequest({ prompt: [system, ...list], model, steps, state: {} })
    const { usage } = await send(prompt.slice(1))
    steps.push({ usage })
  }
})

export const mastra: Sdk = { name: 'Mastra', plain, contenders: [limiting, ...ours] }
