// The public names, one by one.

export { type AgentOptions, agent } from './agent/agent.ts'
export { type Question, questionText, tookIn } from './agent/question.ts'
export { grantedEnding, ruleText, type Wish, wishText } from './agent/wish.ts'
export type { Sampling } from './answer/usage.ts'
export type { SimulatorOptions } from './api/world.ts'
export { type Fault, FaultSignal, faultHeader, faultTypes, readFault } from './faults/fault.ts'
export { cutsSockets, type Outgoing } from './faults/on-socket.ts'
export { type FaultPlan, type FaultRule, type Handler, withFaults } from './faults/with-faults.ts'
export type { LogEntry } from './log/log.ts'
export type { MeterTotals } from './log/meter.ts'
export { type OverflowShape, overflowShapes } from './overflow/overflow.ts'
export {
  type Clock,
  type Ids,
  seededIds,
  systemClock,
  type TurnableClock,
  turnableClock,
} from './ports.ts'
export { repositoryIn, writeRepository } from './repository/on-disk.ts'
export { type Bug, type Repository, syntheticRepository } from './repository/repository.ts'
export { type RepositoryTools, toolsOf } from './repository/tools.ts'
export type { ToolResult } from './repository/workspace.ts'
export { combine, text, thinking, toolUse } from './script/answers.ts'
export { fixed, ScriptExhausted, type WhenExhausted } from './script/fixed.ts'
export { type Misbehavior, misbehavesThen, misbehaving, misbehaviors } from './script/misbehaving.ts'
export { type Random, type Seed, seededRandom } from './script/random.ts'
export { recorded } from './script/recorded.ts'
export { type RouteRule, route } from './script/route.ts'
export type { Answer, Script, ScriptContext, ScriptRequest, ToolDefinition } from './script/script.ts'
export { type RunningServer, type ServerOptions, startServer } from './server.ts'
export { createSimulator, type Simulator } from './simulator.ts'
export { inventions } from './summary/inventions.ts'
export { asksForNotes, noteTaker } from './summary/note-taker.ts'
export { type Fact, type Section, sectionTitles } from './summary/sections.ts'
export { asksForSummary, type SummarizerOptions, summarizer } from './summary/summarizer.ts'
