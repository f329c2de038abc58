// Copies a session that another process is writing, up to its last whole line. The copy appears only once it is
// complete.
import { setImmediate } from 'node:timers/promises'
import { type Disk, ignoring, remove, writeWhole } from './disk.ts'

const chunkSize = 1 << 20

/** The copy must not exist yet. A missing original gives an empty copy. */
export async function copyWholeRecords(disk: Disk, from: string, to: string): Promise<void> {
  const draft = `${to}.draft`
  const target = disk.open(draft, 'create-only')
  try {
    try {
      await copyInto(disk, from, target)
    } finally {
      disk.close(target)
    }
    disk.link(draft, to)
  } finally {
    remove(disk, draft)
  }
}

async function copyInto(disk: Disk, from: string, target: number): Promise<void> {
  const source = ignoring(['ENOENT'], () => disk.open(from, 'read'))
  if (source === undefined) return
  try {
    const end = lastLineEnd(disk, source)
    const chunk = new Uint8Array(chunkSize)
    for (let at = 0; at < end; ) {
      const got = disk.read(source, chunk.subarray(0, Math.min(chunkSize, end - at)), at)
      if (got === 0) throw new Error(`${from} was truncated while it was being copied.`)
      writeWhole({ disk, file: target }, chunk.subarray(0, got))
      at += got
      // Lets leases be renewed during a long copy.
      await setImmediate()
    }
  } finally {
    disk.close(source)
  }
}

function lastLineEnd(disk: Disk, file: number): number {
  const chunk = new Uint8Array(chunkSize)
  for (let end = disk.stat(file).size; end > 0; ) {
    const start = Math.max(0, end - chunkSize)
    const got = disk.read(file, chunk.subarray(0, end - start), start)
    const at = chunk.subarray(0, got).lastIndexOf(0x0a)
    if (at >= 0) return start + at + 1
    end = start
  }
  return 0
}
