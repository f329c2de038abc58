// The state of the workspace, asked at the moment it is needed instead of remembered from the conversation.
import type { AbortSignalPort } from './model.ts'

export type Commit = { readonly hash: string; readonly title: string }

export type WorkspaceFile = {
  /** Relative to the workspace's folder. */
  readonly path: string
  /** Absent for a plain modification. */
  readonly change?: 'new' | 'deleted' | 'renamed'
}

/** The first few, and how many there are. */
export type Capped<T> = { readonly items: readonly T[]; readonly count: number }

export type WorkspaceState = {
  readonly type: 'state'
  /** Absent when HEAD is detached. */
  readonly branch?: string
  /** Absent before the first commit. */
  readonly head?: Commit
  readonly upstream?: {
    readonly name: string
    /** Absent when the upstream branch no longer exists. */
    readonly counts?: { readonly ahead: number; readonly behind: number }
  }
  readonly staged: Capped<WorkspaceFile>
  readonly unstaged: Capped<WorkspaceFile>
  readonly untracked: Capped<WorkspaceFile>
  readonly conflicts: Capped<WorkspaceFile>
  /** Newest first. Absent when nobody asked for them, or git does not know where to start. */
  readonly commits?: Capped<Commit> & { readonly since: Since }
  /** A size limit was reached: counts are minimums. */
  readonly isPartial: boolean
}

export type NoWorkspaceState = { readonly type: 'unknown'; readonly why: string }

/** Milliseconds since 1970, or the hash of a commit. */
export type Since = { readonly time: number } | { readonly commit: string }

export type WorkspaceQuery = {
  /** Where the list of commits starts; without it there is no list. */
  readonly since?: Since | undefined
  readonly signal?: AbortSignalPort | undefined
}

export type Workspace = {
  /** Never rejects, changes nothing, and answers within a time limit of its own. */
  readonly state: (query?: WorkspaceQuery) => Promise<WorkspaceState | NoWorkspaceState>
}
