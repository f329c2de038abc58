// The public names, one by one.

export { combine, text, thinking, toolUse } from './script/answers.ts'
export { fixed, ScriptExhausted, type WhenExhausted } from './script/fixed.ts'
export { integerBelow, lettersFrom, pick, type Random, type Seed, seededRandom } from './script/random.ts'
export { recorded } from './script/recorded.ts'
export { type RouteRule, route } from './script/route.ts'
export type { Answer, Script, ScriptContext, ScriptRequest, ToolDefinition } from './script/script.ts'
