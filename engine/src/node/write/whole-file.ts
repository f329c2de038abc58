// Writes a file under a temporary name first, so that nobody ever sees a part of it, whatever stops the process or the
// machine. Removes the temporary file after a failure.
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { type Disk, diskProblem, nodeDisk, remove, writeWhole } from './disk.ts'

export type WholeFileOptions = {
  readonly disk?: Disk
  /** fsync before it gets its name. Default: true. */
  readonly flush?: boolean
}

/** Replaces an existing file and creates missing folders. */
export function replaceFile(path: string, bytes: Uint8Array, putting: WholeFileOptions = {}): void {
  const { disk = nodeDisk } = putting
  disk.makeFolder(dirname(path))
  const draft = writeDraft(path, bytes, putting)
  try {
    disk.rename(draft, path)
  } catch (error) {
    remove(disk, draft)
    throw error
  }
}

/** False if the name is taken; nothing changes then. */
export function createFile(path: string, bytes: Uint8Array, putting: WholeFileOptions = {}): boolean {
  const { disk = nodeDisk } = putting
  const draft = writeDraft(path, bytes, putting)
  try {
    disk.link(draft, path)
    return true
  } catch (error) {
    if (diskProblem(error).code === 'EEXIST') return false
    throw error
  } finally {
    remove(disk, draft)
  }
}

function writeDraft(path: string, bytes: Uint8Array, { disk = nodeDisk, flush = true }: WholeFileOptions): string {
  const draft = `${path}.${randomUUID()}.draft`
  const file = disk.open(draft, 'create-only')
  try {
    writeWhole({ disk, file }, bytes)
    if (flush) disk.sync(file)
  } catch (error) {
    remove(disk, draft)
    throw error
  } finally {
    disk.close(file)
  }
  return draft
}
