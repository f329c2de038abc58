// Shared parts of the tools of a generated repository: the files they work on, and their results.
import type { Repository } from './repository.ts'

export type ToolResult = { readonly content: string; readonly isError: boolean }

/** The files that tools work on: the original repository, and the current files. */
export type Workspace = {
  readonly repository: Repository
  readonly files: Map<string, string>
  /** Number of test runs so far. Each has its own duration. */
  testRuns: number
}

export const done = (content: string): ToolResult => ({ content, isError: false })
export const failed = (content: string): ToolResult => ({ content, isError: true })

/** A path relative to the repository's root, whichever way it was written. */
export function pathIn(repository: Repository, path: string): string {
  const inside = path === repository.root ? '' : path.replace(`${repository.root}/`, '')
  return inside.replace(/^\.\/?/, '').replace(/\/+$/, '')
}
