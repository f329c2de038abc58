// Files as restoring sees them: on disk of the workspace, or rebuilt from a transcript.

export type FileRead =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'missing' }
  | { readonly type: 'binary'; readonly bytes: number }
  /** Outside the workspace and never read with permission, or not readable. */
  | { readonly type: 'refused'; readonly why: string }

export type FileStore = {
  readonly read: (path: string) => Promise<FileRead>
}
