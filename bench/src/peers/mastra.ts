// Mastra's token limiter as it runs before a model call: its own code over a prompt in the AI SDK's shape.
import type { ModelMessage } from 'ai'
import { importApart } from './apart.ts'

type Limiter = {
  readonly processLLMRequest: (args: {
    readonly prompt: readonly ModelMessage[]
  }) => Promise<{ readonly prompt: readonly ModelMessage[] } | undefined>
}

export async function tokenLimiter(limit: number): Promise<Limiter> {
  const { TokenLimiterProcessor } = await importApart<{
    readonly TokenLimiterProcessor: new (options: { readonly limit: number }) => Limiter
  }>('@mastra/core/dist/processors/index.js')
  return new TokenLimiterProcessor({ limit })
}
