// everlong/models: what is known about models, and what it takes to write a client. The clients themselves are in
// everlong/anthropic and everlong/openai; offline() and recorded() are in everlong.

export { costOf } from './core/cache/economics.ts'
export { knownModels, type ModelFacts, mediaLimit, modelFacts, priceOf } from './core/catalog/models.ts'
export type { TokenCounts } from './core/message/usage.ts'
export type { AbortSignalPort, ModelCapabilities, SendOptions, StreamEvent } from './core/ports/model.ts'
export { overflowOfAnswer, readRefusal } from './core/request/refusal.ts'
export { runModelContract } from './models/contract.ts'
export { type ModelPorts, systemPorts } from './models/ports.ts'
export type { RetryPolicy } from './models/retry.ts'
