/** CPU time in milliseconds, hardly affected by other load on the machine. */
export function cpuTime(run: () => void): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
