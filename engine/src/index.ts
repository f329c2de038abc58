// The public names, one by one.

export { type ModelFacts, modelFacts } from './core/catalog/models.ts'
export {
  type Block,
  blocksOf,
  type Content,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
} from './core/message/block.ts'
export { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from './core/message/json.ts'
export type { Message, Origin, Role, ViewMessage } from './core/message/message.ts'
export type { TokenCounts, Usage } from './core/message/usage.ts'
