// How long a request takes to its first event through each process, one at a time and with many streams open.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, bodies, type Kind, kinds, newAgent, startTarget, startUpstream, type Target } from './load.ts'

export type Latency = {
  readonly kind: Kind
  readonly streams: number
  readonly bytes: number
  readonly requests: number
  /** Milliseconds to the first event. */
  readonly p50: number
  readonly p99: number
  /** Megabytes that the process holds for each open stream. */
  readonly megabytesPerStream: number | undefined
  /** Milliseconds of the processor for each request, everything that happens to it included. */
  readonly cpuMs: number
}

export const bodySizes = [10_000, 1_000_000] as const
export const streamCounts = [1, 100, 500] as const

/** As long as a short answer of a model takes. With 500 streams 50 of them begin every second. */
const streamMs = 10_000
const measureMs = 5_000

export async function measureLatency(folder: string, onDone: (row: Latency) => void): Promise<readonly Latency[]> {
  const rows: Latency[] = []
  for (const bytes of bodySizes) {
    for (const streams of streamCounts) {
      const measured = await (streams === 1 ? oneByOne(folder, bytes) : withStreams(folder, bytes, streams))
      for (const row of measured) onDone(row)
      rows.push(...measured)
    }
  }
  return rows
}

/** Takes turns, request by request. */
async function oneByOne(folder: string, bytes: number): Promise<readonly Latency[]> {
  const upstream = await startUpstream()
  const taking = await Promise.all(
    kinds.map(async (kind) => {
      const target = await startTarget(kind, upstream.url, dataFor(folder, kind, bytes))
      return { kind, target, agent: newAgent(), times: [] as number[], before: await target.used() }
    }),
  )
  const next = bodies(bytes)
  const rounds = 150
  for (let round = -30; round < rounds; round++) {
    for (const one of taking) {
      if (round === 0) one.before = await one.target.used()
      const { first, ended } = ask({ url: one.target.url, agent: one.agent, ...next() })
      const ms = await first
      await ended
      if (round >= 0) one.times.push(ms)
    }
  }
  const rows: Latency[] = []
  for (const { kind, target, times, before } of taking) {
    const cpuMs = ((await target.used()).cpuMs - before.cpuMs) / rounds
    rows.push({ kind, streams: 1, bytes, requests: rounds, ...quantiles(times), megabytesPerStream: undefined, cpuMs })
    await target.stop()
  }
  upstream.close()
  return rows
}

async function withStreams(folder: string, bytes: number, streams: number): Promise<readonly Latency[]> {
  const rows: Latency[] = []
  for (const kind of kinds) {
    const upstream = await startUpstream()
    upstream.streamMs(streamMs)
    const target = await startTarget(kind, upstream.url, dataFor(folder, kind, bytes))
    rows.push({ kind, streams, bytes, ...(await underLoad(target, { bytes, streams })) })
    await target.stop()
    upstream.close()
  }
  return rows
}

type Load = { readonly bytes: number; readonly streams: number }

/** Opens the streams over two seconds, then starts one for each that ends. */
async function underLoad(target: Target, { bytes, streams }: Load) {
  const agent = newAgent()
  const next = bodies(bytes)
  const running = new Set<Promise<void>>()
  const start = (share?: number): Promise<number> => {
    const { first, ended } = ask({ url: target.url, agent, ...next(), ...(share === undefined ? {} : { share }) })
    const end = ended.catch(() => undefined).finally(() => running.delete(end))
    running.add(end)
    return first
  }
  // The process, its code and its connections are warm before the first stream counts.
  for (let at = 0; at < 20; at++) await start(0)
  const idle = await target.used()
  for (let at = 0; at < streams; at++) {
    void start((at + 1) / streams)
    await pause(2_000 / streams)
  }
  const before = await target.used()
  const times: Promise<number>[] = []
  const began = performance.now()
  const every = streamMs / streams
  for (let at = 1; performance.now() - began < measureMs; at++) {
    times.push(start())
    await pause(Math.max(0, began + at * every - performance.now()))
  }
  const first = await Promise.all(times)
  const after = await target.used()
  agent.destroy()
  return {
    ...{ requests: first.length, ...quantiles(first), cpuMs: (after.cpuMs - before.cpuMs) / first.length },
    megabytesPerStream: Math.max(0, after.rss - idle.rss) / streams / 1e6,
  }
}

const dataFor = (folder: string, kind: Kind, bytes: number) => join(folder, `${kind}-${bytes}-${performance.now()}`)

function quantiles(times: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
