// `npm run soak:agent`: 2,000 turns of the whole agent with real tools, sub-agents, an MCP server and a skill. Memory must
// stay flat. It prints what it saw and ends with 1 when something is wrong.
import { longRun } from '@everlong/agent/testing'
import { bytesInUse } from './heap.ts'

const turns = Number(process.env.EVERLONG_SOAK_TURNS ?? 2_000)
const megabyte = 1024 * 1024
/** Of the first half, without the first tasks: caches fill. */
const maxGrowth = 1.15

const sizes: number[] = []
const report = await longRun({
  turns,
  hasFaults: true,
  onTask: (task) => {
    sizes.push(bytesInUse())
    if (task % 10 === 9) console.log(`task ${task + 1}: ${(sizes.at(-1) ?? 0) / megabyte} MB`)
  },
})
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const quarter = Math.floor(sizes.length / 4)
const early = median(sizes.slice(quarter, 2 * quarter))
const late = median(sizes.slice(-quarter))
const { lost, invalid, endings, failing } = report
const problems = [
  ...lost.map((rule) => `lost: ${rule}`),
  ...invalid.map((why) => `invalid: ${why}`),
  ...endings.map((why) => `ended: ${why}`),
  ...failing.map((name) => `still failing: ${name}`),
  ...(late > early * maxGrowth ? [`memory grew from ${early} to ${late} bytes`] : []),
]
console.log({ ...report, memory: { early, late } })
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
