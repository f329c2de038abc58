// Messages between the agent and the keeper of its sandbox.
import type { RuleSet } from '../permissions/rule.ts'
import type { Folders } from './folders.ts'

/** Resources that a command may use. */
export type Policy = {
  /** The workspace's folder with all links resolved. */
  readonly root: string
  readonly folders: Folders
  readonly rules: RuleSet
  /** The repository's store is closed as well. */
  readonly hidesGit: boolean
  /** Whether the command runs git. */
  readonly usesGit: boolean
}

export type KeeperRequest =
  | { readonly type: 'start' }
  | { readonly type: 'wrap'; readonly id: number; readonly command: string; readonly policy: Policy }
  /** A wrapped command has ended or was not started. */
  | { readonly type: 'ended' }
  /** The answer to a question about a host. */
  | { readonly type: 'answer'; readonly id: number; readonly isAllowed: boolean }
  | { readonly type: 'close' }

export type KeeperAnswer =
  | { readonly type: 'started' }
  /** No sandbox can be started here. */
  | { readonly type: 'unavailable'; readonly why: string }
  | {
      readonly type: 'wrapped'
      readonly id: number
      readonly program: readonly string[]
      /** Whether a repository inside of the workspace has, or had, a file that rules deny reading. */
      readonly hasDenied: boolean
    }
  | { readonly type: 'not-wrapped'; readonly id: number; readonly why: string }
  /** A command wants to connect to a host. */
  | { readonly type: 'connect'; readonly id: number; readonly host: string; readonly port: number | undefined }
