// `npm run bench -- loop`: how long the event loop is held while 200 sessions of 40,000 tokens work at once, and while one session of
// 800,000 tokens does, with and without `worker: true`, and next to the code from before work was done in slices.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defineBenchmark, type Page, type Target, table, targetTable } from '../benchmark.ts'
import { root } from '../root.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import type { Measured } from './measure.ts'

/** The last commit without slices. */
const before = 'e296a817'
const repeats = 3

type Code = 'now' | 'worker' | 'before'
type Row = Measured & { readonly scenario: Scenario; readonly code: Code }
type Scenario = 'sessions' | 'large'
type LoopReport = { readonly node: string; readonly rows: readonly Row[] }

export const benchmark = defineBenchmark({ name: 'loop', run, page, targets: ({ rows }) => targetsOf(rows) })

function run(): Promise<LoopReport> {
  return inTemporaryFolder((folder) => compared(join(folder, 'before')))
}

function compared(old: string): LoopReport {
  const git = (...words: readonly string[]) => execFileSync('git', ['-C', root, ...words], { stdio: 'ignore' })
  try {
    git('worktree', 'add', '--detach', old, before)
    const rows = (['sessions', 'large'] as const).flatMap((scenario) => {
      // They take turns, so that load on the machine affects both equally.
      const runs = Array.from({ length: repeats }, () => ({
        now: measure(root, scenario),
        worker: measure(root, scenario, 'worker'),
        before: measure(old, scenario),
      }))
      return (['now', 'worker', 'before'] as const).flatMap((code) =>
        medianOf(runs.map((one) => one[code])).map((measured) => ({ ...measured, scenario, code })),
      )
    })
    return { node: process.versions.node, rows }
  } finally {
    if (existsSync(old)) git('worktree', 'remove', '--force', old)
  }
}

function measure(engineRoot: string, scenario: Scenario, threads: 'main' | 'worker' = 'main'): readonly Measured[] {
  console.error(`${scenario}, ${engineRoot === root ? 'now' : 'before'}, ${threads} …`)
  const program = join(import.meta.dirname, 'measure.ts')
  const words = ['--expose-gc', program, engineRoot, scenario, threads]
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1e7 })) as readonly Measured[]
}

/** The run in the middle by its p99, for each step. */
function medianOf(runs: readonly (readonly Measured[])[]): readonly Measured[] {
  return (runs[0] ?? []).flatMap(({ step }) => {
    const same = runs.flatMap((one) => one.filter((measured) => measured.step === step))
    return same.toSorted((a, b) => a.p99 - b.p99)[Math.floor(same.length / 2)] ?? []
  })
}

const limits = { sessions: 20, large: 50 } as const
const milliseconds = (value: number) => `${value.toFixed(1)} ms`

function targetsOf(rows: readonly Row[]): readonly Target[] {
  const now = rows.filter(({ code }) => code !== 'before')
  const held = now.map(({ scenario, step, code, p99 }) => ({
    what: `${nameOf(scenario)}, ${step}${code === 'worker' ? ', `worker: true`' : ''}: the event loop is held, p99`,
    wanted: `at most ${limits[scenario]} ms`,
    measured: milliseconds(p99),
    met: p99 <= limits[scenario],
  }))
  const sum = (code: Code) => rows.filter((row) => row.code === code).reduce((total, { cpu }) => total + cpu, 0)
  const more = sum('now') / sum('before') - 1
  return [
    ...held,
    {
      what: 'processor time for the same work, next to the code before',
      wanted: 'at most 10 % more',
      measured: `${(100 * more).toFixed(0)} %`,
      met: more <= 0.1,
    },
  ]
}

const nameOf = (scenario: Scenario) =>
  scenario === 'large' ? '1 session of 800,000 tokens' : '200 sessions of 40,000 tokens'

function page({ node, rows }: LoopReport): Page {
  return {
    title: 'The event loop',
    parts: [
      `Written by \`npm run bench -- loop\` with Node ${node}.`,
      `Sessions in memory with the offline model. \`compact\`: all sessions prepare at once and compact. \`turns\`: five turns in each session, at once.
\`recall\`: all search at once. Held is the processor time of the thread between two firings of a timer of one millisecond; by the
clock (\`monitorEventLoopDelay\`) the time of other processes on the machine counts too, and a single block that ends the work is not seen. Processor
time is that of the main thread; \`worker: true\` (\`worker\` below) moves compactions to other threads. The versions take turns ${repeats} times, each in a process of its own; the run in the middle counts. Before: commit ${before}.`,
      targetTable(targetsOf(rows)),
      table(
        ['', 'step', 'code', 'held, p50', 'held, p99', 'held, longest', 'by the clock, p99', 'processor time', 'took'],
        rows.map(({ scenario, step, code, p50, p99, max, clock, cpu, took }) => [
          nameOf(scenario),
          step,
          code,
          milliseconds(p50),
          milliseconds(p99),
          milliseconds(max),
          milliseconds(clock.p99),
          milliseconds(cpu),
          milliseconds(took),
        ]),
      ),
    ],
  }
}
