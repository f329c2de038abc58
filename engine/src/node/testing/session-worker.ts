// A separate process that writes sessions, for tests that stop and kill it: one command per line on stdin, one JSON
// value per line on stdout.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { mulberry32 } from '../../testing/random.ts'
import { acquireLease, type Lease } from '../lease/lease.ts'
import { type Disk, nodeDisk } from '../write/disk.ts'
import { openWriter, type TranscriptWriter } from '../write/writer.ts'
import { sumOf } from './sessions.ts'

/** Synchronous, so that a kill cannot lose it. */
function answer(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`)
}

type Command =
  | { readonly type: 'race'; readonly path: string; readonly at: number }
  | { readonly type: 'release' }
  | { readonly type: 'open'; readonly path: string; readonly durationMs: number; readonly graceMs: number }
  | { readonly type: 'append'; readonly record: { readonly [key: string]: unknown } }
  | { readonly type: 'contend'; readonly path: string; readonly name: string; readonly seed: number }

async function main(): Promise<void> {
  let lease: Lease | undefined
  let writer: TranscriptWriter | undefined
  const owner = `worker ${process.pid}`
  answer('ready')
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line) as Command
    if (command.type === 'race') {
      // A busy loop, so that all start at the same moment.
      while (Date.now() < command.at);
      const result = acquireLease(command.path, { owner })
      if (result.type === 'acquired') lease = result.lease
      answer(result.type)
    } else if (command.type === 'release') {
      lease?.release()
      lease = undefined
      answer('released')
    } else if (command.type === 'open') {
      const result = await openWriter(command.path, { owner, ...command })
      if (result.type === 'opened') writer = result.writer
      answer(result.type)
    } else if (command.type === 'append') {
      answer(writer?.appendAll([command.record]))
    } else await contend(command)
  }
}

/** Forever: takes the session, writes a few records, releases it. Reports each written record. */
async function contend(options: {
  readonly path: string
  readonly name: string
  readonly seed: number
}): Promise<void> {
  const random = mulberry32(options.seed)
  let seq = 1
  for (;;) {
    const result = await openWriter(options.path, { owner: options.name, ports: { disk: slowDisk } })
    if (result.type !== 'opened') {
      if (result.type !== 'held') answer(result)
      await pause(1 + random() * 4)
      continue
    }
    const { writer } = result
    for (let left = 1 + Math.floor(random() * 60); left > 0; left--) {
      const text = 'x'.repeat(Math.floor(random() * 3000))
      const record = { name: options.name, seq, token: writer.token(), text }
      const appended = writer.appendAll([{ ...record, sum: sumOf(record) }])
      answer(appended.type === 'appended' ? { seq } : appended)
      if (appended.type === 'appended') seq++
      if (random() < 0.3) await pause(1)
    }
    writer.close()
    await pause(random() * 4)
  }
}

/** Writes slowly, so that a kill can cut a record and two simultaneous writers would show. */
const slowDisk: Disk = {
  ...nodeDisk,
  write: (file, bytes) => {
    const until = performance.now() + 0.1
    while (performance.now() < until);
    return nodeDisk.write(file, bytes.subarray(0, 300))
  },
}

await main()
