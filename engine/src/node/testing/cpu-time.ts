/** Milliseconds of processor time that `run` takes. What else the machine does hardly changes it. */
export function cpuTime(run: () => void): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
