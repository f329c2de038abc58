// Reads workspace files for restoring. Nothing outside the workspace is read unless allowed, and links cannot lead out
// of it.
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { FileRead, FileStore } from '../../core/ports/files.ts'

export type WorkspaceOptions = {
  readonly root: string
  /** Paths outside the workspace that may be read. */
  readonly isAllowed?: (path: string) => boolean
}

/** Larger files are not source code that anybody reads whole. */
const maxBytes = 2 * 1024 * 1024

export function workspaceFiles({ root, isAllowed = () => false }: WorkspaceOptions): FileStore {
  return {
    read: async (path) => {
      const wanted = resolve(root, path)
      try {
        const real = await realpath(wanted)
        if (!isInside(await realpath(root), real) && !isAllowed(path)) {
          return { type: 'refused', why: 'it is outside the workspace', isOutside: true }
        }
        return await readText(real)
      } catch (error) {
        return failed(error)
      }
    },
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function readText(path: string): Promise<FileRead> {
  // Nonblocking: opening a pipe would wait for a writer.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const state = await file.stat()
    if (!state.isFile()) return { type: 'refused', why: 'it is not a file' }
    if (state.size > maxBytes) return { type: 'refused', why: `it has ${state.size} bytes` }
    const bytes = await file.readFile()
    if (bytes.includes(0)) return { type: 'binary', bytes: bytes.length }
    return { type: 'text', text: bytes.toString('utf8') }
  } finally {
    await file.close()
  }
}

function failed(error: unknown): FileRead {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT' || code === 'ENOTDIR') return { type: 'missing' }
  return { type: 'refused', why: `it cannot be read (${code || String(error)})` }
}
