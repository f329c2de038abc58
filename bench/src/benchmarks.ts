// The table of benchmarks. Each is loaded only when it is needed.
import type { Benchmark } from './benchmark.ts'

export const benchmarks: Readonly<Record<string, () => Promise<{ readonly benchmark: Benchmark }>>> = {
  transcript: () => import('./transcript/run.ts'),
  simulator: () => import('./simulator/run.ts'),
  engine: () => import('./engine/run.ts'),
  soak: () => import('./soak/run.ts'),
  tokens: () => import('./tokens/run.ts'),
  store: () => import('./store/run.ts'),
  hooks: () => import('./hooks/run.ts'),
  terminal: () => import('./terminal/run.ts'),
  handover: () => import('./handover/run.ts'),
  'built-ins': () => import('./built-ins/run.ts'),
  fidelity: () => import('./fidelity/run.ts'),
  recall: () => import('./recall/run.ts'),
  locomo: () => import('./recall/locomo.ts'),
  micro: () => import('./micro/run.ts'),
  speed: () => import('./speed/run.ts'),
  windows: () => import('./windows/run.ts'),
  loop: () => import('./loop/run.ts'),
  rounds: () => import('./rounds/run.ts'),
  cost: () => import('./cost/run.ts'),
  economy: () => import('./economy/run.ts'),
  clock: () => import('./clock/run.ts'),
  memory: () => import('./memory/run.ts'),
  compact: () => import('./compact/run.ts'),
  walks: () => import('./walks/run.ts'),
}
