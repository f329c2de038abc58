// Stores large and binary contents once each, by the hash of their bytes, for hosts that keep a reference in the
// transcript. Blobs never change, and damaged ones are never returned.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Disk, type DiskProblem, diskProblem, ignoring, nodeDisk } from './disk.ts'
import { replaceFile } from './whole-file.ts'

export type BlobStore = {
  readonly put: (bytes: Uint8Array) => PutResult
  readonly get: (id: string) => GetResult
}

export type PutResult = { readonly type: 'stored'; readonly id: string } | StoreFailed

export type GetResult =
  | { readonly type: 'found'; readonly bytes: Buffer }
  /** Also for malformed ids. */
  | { readonly type: 'not-found' }
  /** The bytes do not match the id. Storing them again repairs it. */
  | { readonly type: 'damaged' }
  | StoreFailed

export type StoreFailed = { readonly type: 'store-failed' } & DiskProblem

/** Creates `blobs/` in this folder with the first blob. */
export function openBlobs(folder: string, disk: Disk = nodeDisk): BlobStore {
  const placeOf = (hex: string) => join(folder, 'blobs', hex.slice(0, 2), hex.slice(2))
  return {
    put: (bytes) => {
      const hex = hashOf(bytes)
      try {
        const place = placeOf(hex)
        if (read(disk, place)?.equals(bytes) !== true) replaceFile(place, bytes, { disk })
        return { type: 'stored', id: `sha256-${hex}` }
      } catch (error) {
        return { type: 'store-failed', ...diskProblem(error) }
      }
    },
    get: (id) => {
      // The id becomes part of a path and is untrusted.
      const [, hex] = /^sha256-([0-9a-f]{64})$/.exec(id) ?? []
      if (hex === undefined) return { type: 'not-found' }
      try {
        const bytes = read(disk, placeOf(hex))
        if (bytes === undefined) return { type: 'not-found' }
        return hashOf(bytes) === hex ? { type: 'found', bytes } : { type: 'damaged' }
      } catch (error) {
        return { type: 'store-failed', ...diskProblem(error) }
      }
    },
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function read(disk: Disk, path: string): Buffer | undefined {
  const file = ignoring(['ENOENT', 'ENOTDIR', 'ELOOP'], () => disk.open(path, 'read'))
  if (file === undefined) return undefined
  try {
    const bytes = Buffer.alloc(disk.stat(file).size)
    let done = 0
    for (let got = -1; done < bytes.length && got !== 0; done += got) got = disk.read(file, bytes.subarray(done), done)
    return bytes.subarray(0, done)
  } finally {
    disk.close(file)
  }
}
