// How long work takes: by the clock if it is short, else in processor time, which other work on the machine does not
// change. Processor time comes in ticks of milliseconds, so it is exact only for long work or over many runs.
import { median } from './median.ts'

/** Milliseconds by the clock, and of the processor. */
export type Sample = { readonly clock: number; readonly processor: number }

/** Longer work is likely to be interrupted by other work. */
const short = 5

/** The median by the clock, or of longer work the mean of its processor time. */
export function typical(samples: readonly Sample[]): number {
  const clock = median(samples.map((sample) => sample.clock))
  if (clock < short) return clock
  return samples.reduce((sum, { processor }) => sum + processor, 0) / samples.length
}

/** Returns the time since the call. */
export function stopwatch(): () => Sample {
  const began = { clock: performance.now(), processor: processorTime() }
  return () => ({ processor: processorTime() - began.processor, clock: performance.now() - began.clock })
}

/** Of this thread in milliseconds, or of the process on a Node that cannot tell. */
export function processorTime(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}
