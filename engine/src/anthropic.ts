// everlong/anthropic: the client for the Messages API, and middleware for the official SDK, which is an optional peer.

export type { ToolRunnerLike } from './adapters/anthropic/tool-runner.ts'
export { HistoryMismatchError } from './adapters/history/managed-history.ts'
export { type AnthropicMiddlewareOptions, everlong, type RunToolsOptions, runTools } from './anthropic-middleware.ts'
export { type AnthropicLike, type AnthropicOptions, anthropic } from './models/anthropic/client.ts'
export type { SdkOptions } from './models/sdk.ts'
