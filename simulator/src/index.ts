// The public names, one by one.

export { type AgentOptions, agent } from './agent/agent.ts'
export { type Bug, type Repository, syntheticRepository } from './repository/repository.ts'
export { type RepositoryTools, toolsOf } from './repository/tools.ts'
export type { ToolResult } from './repository/workspace.ts'
export { combine, text, thinking, toolUse } from './script/answers.ts'
export { fixed, ScriptExhausted, type WhenExhausted } from './script/fixed.ts'
export { integerBelow, lettersFrom, pick, type Random, type Seed, seededRandom } from './script/random.ts'
export { recorded } from './script/recorded.ts'
export { type RouteRule, route } from './script/route.ts'
export type { Answer, Script, ScriptContext, ScriptRequest, ToolDefinition } from './script/script.ts'
