// everlong/internal/wire: unstable, like everlong/internal. Converts the wire formats of the APIs: messages to ours, streams to
// answers.

export { messageConversion } from './adapters/anthropic/messages.ts'
export { type Converted, convert } from './adapters/history/converter.ts'
export { chatConverter } from './adapters/openai/chat.ts'
export { groupItems, itemConverter } from './adapters/openai/items.ts'
export { chatUsage } from './core/message/chat-completions.ts'
export {
  billedCounts,
  type CacheOutcome,
  cacheOutcomes,
  readUsage,
  type Usage,
  usageRecord,
} from './core/message/usage.ts'
export { MessageAccumulator } from './models/anthropic/accumulate.ts'
export { ChatAccumulator } from './models/openai/accumulate.ts'
export { responsesUsage } from './models/openai/responses.ts'
