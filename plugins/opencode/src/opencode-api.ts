// The part of opencode's plug-in interface (1.18) that the plug-in uses. Messages and their parts stay as loose as they come:
// opencode adds kinds of parts in minor versions.
import type { JsonObject } from 'everlong/internal'

export type SessionMessage = { readonly info: JsonObject; readonly parts: readonly JsonObject[] }

export type SessionInfo = {
  readonly id: string
  readonly projectID: string
  readonly directory: string
  readonly time: { readonly updated: number }
}

type Answer<T> = Promise<{ readonly data?: T | undefined }>
type ById = { readonly path: { readonly id: string } }

export type Client = {
  readonly session: {
    readonly list: () => Answer<readonly SessionInfo[]>
    readonly messages: (of: ById) => Answer<readonly SessionMessage[]>
  }
  readonly tui: {
    /** Resolves also where there is no screen. */
    readonly showToast: (toast: {
      readonly body: { readonly message: string; readonly variant: 'info'; readonly duration: number }
    }) => Promise<unknown>
  }
  readonly app: {
    readonly log: (entry: {
      readonly body: { readonly service: string; readonly level: 'error'; readonly message: string }
    }) => Promise<unknown>
  }
}

export type PluginInput = {
  readonly client: Client
  readonly project: { readonly id: string }
  readonly directory: string
  /** The repository; `/` outside of one. */
  readonly worktree: string
}

export type ToolDefinition = {
  readonly description: string
  readonly args: Readonly<Record<string, unknown>>
  readonly execute: (args: JsonObject) => Promise<string>
}

/** `output` is changed in place: that is how opencode takes an answer. */
export type Hooks = {
  readonly 'experimental.session.compacting': (
    input: { readonly sessionID: string },
    output: { context: string[] },
  ) => Promise<void>
  readonly 'experimental.text.complete': (
    input: { readonly sessionID: string; readonly messageID: string },
    output: { text: string },
  ) => Promise<void>
  readonly 'tool.execute.after': (
    input: { readonly tool: string; readonly sessionID: string; readonly callID: string },
    output: { output?: string },
  ) => Promise<void>
  readonly event: (input: { readonly event: JsonObject }) => Promise<void>
  readonly dispose: () => Promise<void>
  readonly tool: Readonly<Record<string, ToolDefinition>>
}
