// @everlong/agent/render: text for terminals, shared by the agent and the command line.

export { type FinishedCall, outcomeOf, subjectOf, withoutRoot } from './calls.ts'
export { type Fullness, fullnessOf, gauge, stateStyles } from './gauge.ts'
export {
  bytes,
  clockTime,
  count,
  counted,
  dateTime,
  dollars,
  duration,
  exactDollars,
  percent,
  seconds,
  short,
} from './numbers.ts'
export { compactionPhases } from './phases.ts'
export { oneLine, safeJson, safeText, visible } from './safe.ts'
export { createSheet, type Sheet, type Style } from './sheet.ts'
export { columnsOf, cut, cutStart, fold, padEnd, padStart, wrap } from './width.ts'
