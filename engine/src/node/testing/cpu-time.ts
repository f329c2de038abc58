/** CPU time in milliseconds, hardly affected by other load on the machine. */
export function cpuTime(run: () => void): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** The lowest of up to three ratios of processor times. Noise mostly makes a ratio larger, so one below the limit is enough. */
export function lowestRatio(limit: number, ratio: () => number): number {
  let lowest = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 3 && lowest >= limit; attempt++) lowest = Math.min(lowest, ratio())
  return lowest
}
