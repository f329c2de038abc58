// everlong/openai: the client for chat completions, and histories for the official SDK, which is an optional peer.

export { HistoryMismatchError } from './adapters/history/managed-history.ts'
export { type OpenAILike, type OpenAIOptions, openai } from './models/openai/client.ts'
export type { SdkOptions } from './models/sdk.ts'
export {
  manageChat,
  manageResponses,
  type OpenAICall,
  type OpenAIHistory,
  type OpenAIHistoryOptions,
  type OpenAISent,
} from './openai-history.ts'
