// everlong/mechanisms: for hosts that write their own mechanism or change the order of mechanisms. See docs/engine.md.

export type {
  Mechanism,
  MechanismContext,
  Mechanisms,
  Plan,
  PlanningMechanism,
  RunningMechanism,
  Situation,
} from './core/mechanisms/mechanism.ts'
export { microByIdle, microBySize } from './core/mechanisms/micro.ts'
export { native } from './core/mechanisms/native.ts'
export { snip } from './core/mechanisms/ranges.ts'
export { blocksOf } from './core/message/message.ts'
export type { Outcome } from './core/ports/outcome.ts'
export { summarize } from './core/session/summarize.ts'
export type { Edit } from './core/transcript/format/edits.ts'
export type { View } from './core/transcript/view/fold.ts'
