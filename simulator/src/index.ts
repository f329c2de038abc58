// The public names, one by one.

export type { Sampling } from './answer/usage.ts'
export type { SimulatorOptions } from './api/world.ts'
export type { LogEntry } from './log/log.ts'
export type { MeterTotals } from './log/meter.ts'
export { type OverflowShape, overflowShapes } from './overflow/overflow.ts'
export {
  type Clock,
  type Ids,
  seededIds,
  seededRandom,
  systemClock,
  type TurnableClock,
  turnableClock,
} from './ports.ts'
export type { Answer, Script, ScriptContext, ScriptRequest, ToolDefinition } from './script/script.ts'
export { type RunningServer, type ServerOptions, startServer } from './server.ts'
export { createSimulator, type Simulator } from './simulator.ts'
