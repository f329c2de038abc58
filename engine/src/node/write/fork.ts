// Copies a session that somebody is writing, up to its last whole line. Never touches the original, and never shows a
// copy that is not finished.
import { setImmediate } from 'node:timers/promises'
import { type Disk, remove, unless, writeWhole } from './disk.ts'

const chunkSize = 1 << 20

/** Byte for byte, in the memory of one chunk. The copy must not be there yet; a missing original gives an empty copy. */
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
  const source = unless(['ENOENT'], () => disk.open(from, 'read'))
  if (source === undefined) return
  try {
    const end = lastLineEnd(disk, source)
    const chunk = new Uint8Array(chunkSize)
    for (let at = 0; at < end; ) {
      const got = disk.read(source, chunk.subarray(0, Math.min(chunkSize, end - at)), at)
      if (got === 0) throw new Error(`${from} became shorter while it was copied.`)
      writeWhole({ disk, file: target }, chunk.subarray(0, got))
      at += got
      // Lets leases be renewed and others work while a large file is copied.
      await setImmediate()
    }
  } finally {
    disk.close(source)
  }
}

/** Where the last whole line ends, looking from the end backwards. */
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
