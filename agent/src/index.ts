// The public names, one by one.

export type * from './app.ts'
export type { LoopEvent, LoopState, StopReason } from './events.ts'
export { type QueryOptions, query } from './loop.ts'
export { parseRules } from './permissions/rule.ts'
export { interrupted } from './run-tools.ts'
export { type SubagentToolOptions, subagentTool } from './subagent-tool.ts'
export { type AnyTool, defineTool, definitionsOf, type Tool, type ToolContext, type ToolOutput } from './tool.ts'
export { type AgentTools, createTools, type ToolsOptions } from './tools/create-tools.ts'
