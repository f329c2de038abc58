// @everlong/agent/testing: stages and long runs, for our own rooms' tests and benchmarks.

export { type LongRunOptions, type LongRunReport, longRun } from './long-run.ts'
export { whyNoSandbox } from './sandbox.ts'
export { type SoakOptions, type SoakReport, soak, soakFaults, soakWindow } from './soak.ts'
export { setBench } from './tool-bench.ts'
