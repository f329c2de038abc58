// Records the system calls with which a process changes files, and repeats them elsewhere: as many as would have happened before
// a kill, the last one only in part.
import type fs from 'node:fs'
import { appendFileSync, linkSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'

/** Bytes are in base64. */
export type FileChange =
  | { readonly type: 'written'; readonly path: string; readonly bytes: string; readonly isNew: boolean }
  | { readonly type: 'moved' | 'linked'; readonly path: string; readonly to: string }
  | { readonly type: 'removed' | 'folder-made'; readonly path: string }
  | { readonly type: 'cut'; readonly path: string; readonly size: number }

type Watching = { readonly isSlow: boolean; readonly tell: (change: FileChange) => void }
type Files = typeof fs
type Call = (...given: readonly unknown[]) => unknown
/** The change that a call is about to make. Undefined if it changes nothing. */
type Reading = (...given: readonly unknown[]) => FileChange | undefined

/** Wraps the system's calls. Nested calls are not recorded twice. */
export function watchChanges(
  files: Files,
  { isSlow, tell }: Watching,
): { readonly begin: () => void; readonly end: () => void } {
  const calls = files as unknown as Record<string, Call>
  const system = { ...calls }
  const names = new Map<unknown, string>()
  let depth = 0
  let isOn = false
  for (const [name, read] of Object.entries(readings(files, names))) {
    calls[name] = (...given) => {
      const isOwn = isOn && depth === 0
      const change = isOwn ? read(...given) : undefined
      if (change) tell(change)
      depth++
      try {
        const [file, bytes, ...rest] = given
        const isWrite = isSlow && isOwn && name === 'writeSync'
        const result = system[name]?.(...(isWrite ? [file, slowly(bytes as Uint8Array), ...rest] : given))
        if (name === 'openSync') names.set(result, String(given[0]))
        return result
      } finally {
        depth--
      }
    }
  }
  return {
    begin: () => {
      isOn = true
    },
    end: () => {
      isOn = false
    },
  }
}

function readings(files: Files, names: ReadonlyMap<unknown, string>): Readonly<Record<string, Reading>> {
  const { existsSync, constants } = files
  const nameOf = (file: unknown) => names.get(file) ?? ''
  const written = (path: unknown, data: unknown, isNew: boolean): FileChange => {
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data as Uint8Array)
    return { type: 'written', path: String(path), bytes: bytes.toString('base64'), isNew }
  }
  return {
    openSync: (path, flags) => {
      const isMade = (Number(flags) & constants.O_CREAT) !== 0 && !existsSync(String(path))
      return isMade ? written(path, '', true) : undefined
    },
    writeSync: (file, bytes) => written(nameOf(file), bytes, false),
    writeFileSync: (path, data) => written(path, data, true),
    appendFileSync: (path, data) => written(path, data, false),
    renameSync: (from, to) => ({ type: 'moved', path: String(from), to: String(to) }),
    linkSync: (from, to) => ({ type: 'linked', path: String(from), to: String(to) }),
    unlinkSync: (path) => ({ type: 'removed', path: String(path) }),
    rmSync: (path) => ({ type: 'removed', path: String(path) }),
    ftruncateSync: (file, size) => ({ type: 'cut', path: nameOf(file), size: Number(size ?? 0) }),
    mkdirSync: (path) => ({ type: 'folder-made', path: String(path) }),
  }
}

const littleAtATime = 2_000

/** A write may accept fewer bytes than given. With a pause before each, a kill can cut it. */
function slowly(bytes: Uint8Array): Uint8Array {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
  return bytes.subarray(0, littleAtATime)
}

/** Repeats the change below another folder. A write can be limited to some bytes. */
export function makeChange(change: FileChange, place: (path: string) => string, most = Number.POSITIVE_INFINITY): void {
  const path = place(change.path)
  switch (change.type) {
    case 'written': {
      const bytes = Buffer.from(change.bytes, 'base64').subarray(0, most)
      if (change.isNew) writeFileSync(path, bytes)
      else appendFileSync(path, bytes)
      break
    }
    case 'moved':
      renameSync(path, place(change.to))
      break
    case 'linked':
      linkSync(path, place(change.to))
      break
    case 'removed':
      rmSync(path, { force: true })
      break
    case 'folder-made':
      mkdirSync(path, { recursive: true })
      break
    case 'cut':
      truncateSync(path, change.size)
  }
}
