// Run as a process of its own: compacts the messages in a file without a model, once and then again, and prints what it
// took. The first time in a process pays for everything that is compiled then.
import { readFileSync } from 'node:fs'
import { type AnyMessage, compact } from 'everlong'
import { bytesInUse } from '../soak/heap.ts'
import { processorTime } from '../timing.ts'

export type One = {
  readonly tokens: { readonly before: number; readonly after: number }
  /** Milliseconds of processor time: the first, and each of those after it. */
  readonly first: number
  readonly later: readonly number[]
  /** Megabytes: the increase of the peak, and what is still in use afterwards. */
  readonly peak: number
  readonly kept: number
}

if (import.meta.main) console.log(JSON.stringify(await measure(process.argv[2] ?? '', Number(process.argv[3]))))

async function measure(path: string, rounds: number): Promise<One> {
  const messages = JSON.parse(readFileSync(path, 'utf8')) as readonly AnyMessage[]
  const held = bytesInUse()
  const largest = process.resourceUsage().maxRSS
  const first = await timedCompaction(messages)
  const peak = (process.resourceUsage().maxRSS - largest) / 1024
  const later: number[] = []
  for (let round = 0; round < rounds; round++) later.push((await timedCompaction(messages)).milliseconds)
  return { tokens: first.tokens, first: first.milliseconds, later, peak, kept: (bytesInUse() - held) / 1e6 }
}

async function timedCompaction(messages: readonly AnyMessage[]) {
  const began = processorTime()
  const done = await compact(messages)
  const milliseconds = processorTime() - began
  if (done.type === 'failed') throw new Error(done.why)
  return { milliseconds, tokens: done.tokens }
}
