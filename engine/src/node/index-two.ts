// Indexes a large file with two threads, each a stretch of it. The caller waits as it would for one: no promise is
// needed, since what comes from the other thread is waited for on shared memory.
import { closeSync, openSync, readSync } from 'node:fs'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { addTable, createEntryTable, resolvePending } from '../core/transcript/entry-table.ts'
import type { Format } from '../core/transcript/formats/reader.ts'
import { decodeIndexed } from './index-bytes.ts'
import { type Indexed, scanIndex } from './index-scan.ts'

export type IndexJob = {
  readonly path: string
  readonly from: number
  readonly to: number
  readonly done: Int32Array<SharedArrayBuffer>
}

type Options = {
  readonly format: Format
  readonly size: number
  /** Smaller files are read by one thread: starting another takes longer. */
  readonly worthTwo?: number
}

const largeFile = 96 << 20
/** The other thread has to be started first, so it gets the smaller part. */
const shareOfThisThread = 0.56
const longestWait = 120_000

export function scanIndexInTwo(path: string, options: Options): Indexed {
  const { format, size, worthTwo = largeFile } = options
  if (format !== 'claude-code' || size < worthTwo) return scanIndex(path, { format })
  const middle = lineStartAfter(path, Math.floor(size * shareOfThisThread))
  if (middle === undefined) return scanIndex(path, { format })
  const other = startOther(path, middle, size)
  const first = scanIndex(path, { format, to: middle })
  const second = other() ?? scanIndex(path, { format, from: middle })
  const table = createEntryTable({ saved: first.table })
  addTable(table, second.table, first.lines)
  resolvePending(table)
  return { table, bytes: second.bytes, lines: first.lines + second.lines }
}

/** Starts the other thread; the function it returns waits for the outcome. Undefined: do it yourself. */
function startOther(path: string, from: number, to: number): () => Indexed | undefined {
  const done = new Int32Array(new SharedArrayBuffer(4))
  const { port1, port2 } = new MessageChannel()
  const name = import.meta.url.endsWith('.ts') ? './index-worker.ts' : './index-worker.js'
  const workerData = { path, from, to, done, port: port2 }
  const worker = new Worker(new URL(name, import.meta.url), { workerData, transferList: [port2] })
  worker.unref()
  return () => {
    Atomics.wait(done, 0, 0, longestWait)
    const answer = receiveMessageOnPort(port1)?.message
    port1.close()
    void worker.terminate()
    return answer instanceof Uint8Array ? decodeIndexed(Buffer.from(answer.buffer)) : undefined
  }
}

/** Where the first line that begins behind this place begins. */
function lineStartAfter(path: string, place: number): number | undefined {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(1 << 20)
    for (let at = place; ; at += buffer.length) {
      const read = readSync(file, buffer, 0, buffer.length, at)
      const newline = buffer.subarray(0, read).indexOf(10)
      if (newline >= 0) return at + newline + 1
      if (read < buffer.length) return undefined
    }
  } finally {
    closeSync(file)
  }
}
