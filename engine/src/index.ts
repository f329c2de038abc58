// The public names, one by one.

export { type ModelFacts, modelFacts } from './core/catalog/models.ts'
export { type Block, blocksOf, type Content, textOf } from './core/message/block.ts'
export type { Message, Origin, Role, ViewMessage } from './core/message/message.ts'
export type { TokenCounts, Usage } from './core/message/usage.ts'
