// For tests that something takes linear time: compares two sizes in one run, in processor time of this thread.

/** In microseconds. The clock of a thread may tick only every few milliseconds, so shorter times count as this. */
const shortest = 10_000

/** Ratio of the times for eight times the size: about 8 if the work is linear, 64 if it is quadratic. */
export async function growth(size: number, work: (size: number) => unknown): Promise<number> {
  const small = await timeOf(() => work(size))
  return (await timeOf(() => work(8 * size))) / small
}

/** The best of three, because the first runs are not optimized yet. */
async function timeOf(work: () => unknown): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 3; run++) {
    const start = process.threadCpuUsage()
    await work()
    const { user, system } = process.threadCpuUsage(start)
    times.push(user + system)
  }
  return Math.max(shortest, Math.min(...times))
}
