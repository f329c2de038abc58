// @everlong/agent/host: the whole agent, for hosts that show it: the terminal, headless mode, others.

export { commands, usageOf } from './commands/run.ts'
export { type AgentOptions, createAgent } from './create-agent.ts'
export {
  exitCodes,
  headlessPerson,
  type OutputForm,
  outputForms,
  runHeadless,
} from './headless/headless.ts'
export { chooseModel, type ModelChoice, type ModelSetup } from './models/choose.ts'
export type { ChosenModel, DemoModel } from './models/chosen.ts'
export { originalOf, type Receipt, receiptLine, receiptsIn } from './receipt.ts'
export type { SessionChoice } from './session-host.ts'
export { homeOf, sessionsFolder } from './sessions/places.ts'
export { findSession, listSessions, type SessionSummary } from './sessions/sessions.ts'
export { type LoadedSettings, loadSettings } from './settings/load.ts'
export type { Settings } from './settings/settings.ts'
export { trustFolder } from './settings/trust.ts'
export { type SessionWish, type Started, type StartOptions, startAgent } from './start.ts'
export type { ToolSet, ToolSetup } from './tool-set.ts'
