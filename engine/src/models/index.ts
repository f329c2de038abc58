// everlong/models: the clients behind the seam of core/ports/model.ts.

export { overflowOfAnswer, type Refusal, readRefusal, type Verdict } from '../core/request/refusal.ts'
export { type AnthropicLike, type AnthropicOptions, anthropic } from './anthropic/client.ts'
export { type ModelContractInput, type ModelContractReport, runModelContract } from './contract.ts'
export { modelNamed, type NamedModel, type NamedOptions, type UnknownModel } from './named.ts'
export { type OfflineOptions, offline, offlineNotice } from './offline.ts'
export { type OpenAILike, type OpenAIOptions, openai } from './openai/client.ts'
export { type ModelPorts, systemPorts } from './ports.ts'
export { type RecordedOptions, recorded } from './recorded.ts'
export { defaultRetries, type RetryPolicy } from './retry.ts'
export type { SdkOptions } from './sdk.ts'
