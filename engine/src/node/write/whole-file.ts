// Puts a whole file in its place: under another name first, so that whoever sees it sees all of it, whenever the process
// or the machine stops. What it could not finish it takes away again.
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { type Disk, diskProblem, nodeDisk, remove, writeWhole } from './disk.ts'

export type Putting = {
  readonly disk?: Disk
  /** Forced onto the disk before it has its name. What can be done without after a crash of the machine need not wait. */
  readonly flush?: boolean
}

/** In the place of whatever has the name. Its folder is made when it is not there. */
export function replaceFile(path: string, bytes: Uint8Array, putting: Putting = {}): void {
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

/** False when the name is taken: then nothing has changed. */
export function createFile(path: string, bytes: Uint8Array, putting: Putting = {}): boolean {
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

function writeDraft(path: string, bytes: Uint8Array, { disk = nodeDisk, flush = true }: Putting): string {
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
