// `npm run bench -- NAME`: the table of benchmarks. Each is loaded only when asked for; without a name all of them run.

const benchmarks: Readonly<Record<string, () => Promise<{ readonly run: () => void | Promise<void> }>>> = {
  transcript: () => import('./transcript/report.ts'),
  simulator: () => import('./simulator/bench.ts'),
  engine: () => import('./engine/report.ts'),
  soak: () => import('./soak/report.ts'),
  tokens: () => import('./tokens/report.ts'),
  store: () => import('./store/run.ts'),
  hooks: () => import('./hooks/run.ts'),
  terminal: () => import('./terminal/run.ts'),
  readme: () => import('./readme.ts'),
  'fit-estimator': () => import('./tokens/fit.ts'),
  handover: () => import('./handover/run.ts'),
  'built-ins': () => import('./built-ins/run.ts'),
  fidelity: () => import('./fidelity/run.ts'),
  recall: () => import('./recall/run.ts'),
  locomo: () => import('./recall/locomo.ts'),
  micro: () => import('./micro/run.ts'),
  speed: () => import('./speed/run.ts'),
  rounds: () => import('./rounds/run.ts'),
  cost: () => import('./cost/report.ts'),
  economy: () => import('./economy/run.ts'),
  memory: () => import('./memory/report.ts'),
  compact: () => import('./compact/report.ts'),
  summary: () => import('./summary/run.ts'),
  walks: () => import('./walks/run.ts'),
  everything: () => import('./summary/everything.ts'),
}

const [name = 'everything'] = process.argv.slice(2)
const load = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined
if (load) {
  const { run } = await load()
  await run()
} else {
  console.error(`Usage: npm run bench -- NAME, where NAME is one of: ${Object.keys(benchmarks).join(', ')}`)
  process.exitCode = 2
}
