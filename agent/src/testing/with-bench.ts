// Benches that are closed after each test.
import { afterEach } from 'vitest'
import { type Bench, type BenchOptions, setBench } from './tool-bench.ts'

export function benches(): (options?: BenchOptions) => Promise<Bench> {
  const open: Bench[] = []
  afterEach(async () => {
    for (const bench of open.splice(0)) await bench.close()
  })
  return async (options) => {
    const bench = await setBench(options)
    open.push(bench)
    return bench
  }
}
