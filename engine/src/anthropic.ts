// everlong/anthropic: the client for the Messages API. The official SDK is an optional peer.

export { type AnthropicLike, type AnthropicOptions, anthropic } from './models/anthropic/client.ts'
export type { SdkOptions } from './models/sdk.ts'
