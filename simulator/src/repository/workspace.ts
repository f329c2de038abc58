// What the tools of a generated repository share: the files they work on, and the results they give.
import type { Repository } from './repository.ts'

export type ToolResult = { readonly content: string; readonly isError: boolean }

/** What a tool works on: the repository as it was, and the files as they are now. */
export type Workspace = {
  readonly repository: Repository
  readonly files: Map<string, string>
  /** Test runs so far: each takes its own time. */
  testRuns: number
}

export const done = (content: string): ToolResult => ({ content, isError: false })
export const failed = (content: string): ToolResult => ({ content, isError: true })

/** A path relative to the repository's root, whichever way it was written. */
export function pathIn(repository: Repository, path: string): string {
  const inside = path === repository.root ? '' : path.replace(`${repository.root}/`, '')
  return inside.replace(/^\.\/?/, '').replace(/\/+$/, '')
}
