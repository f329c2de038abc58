// Files as restoring sees them: from the disk, or rebuilt from a transcript.

export type FileRead =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'missing' }
  | { readonly type: 'binary'; readonly bytes: number }
  /** Outside the workspace, never shown to this session, or not readable. */
  | {
      readonly type: 'refused'
      readonly why: string
      readonly isOutside?: boolean
      /** The whole text as the conversation last showed it; it may have changed since. */
      readonly lastShown?: string
    }

export type FileStore = {
  readonly read: (path: string) => Promise<FileRead>
}
