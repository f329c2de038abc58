// everlong/openai: the client for chat completions. The official SDK is an optional peer.

export { type OpenAILike, type OpenAIOptions, openai } from './models/openai/client.ts'
export type { SdkOptions } from './models/sdk.ts'
