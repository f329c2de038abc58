// The public names, one by one.

export { cachePrices, knownModels, type ModelFacts, modelFacts } from './core/catalog/models.ts'
export {
  type Block,
  blocksOf,
  type Content,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  textOf,
} from './core/message/block.ts'
export { isObject, type JsonObject } from './core/message/json.ts'
export type { Message, Origin, Role, ViewMessage } from './core/message/message.ts'
export type { TokenCounts, Usage } from './core/message/usage.ts'
