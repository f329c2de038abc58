// The files as they are now, for rules that deny: synchronous, so that nothing changes between two looks.
import { readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Disk } from './named-paths.ts'

export const disk: Disk = { realPath, list }

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Missing or unreadable: where its folder leads, if there is one.
    const folder = dirname(path)
    return folder === path ? path : join(realPath(folder), basename(path))
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
