// The part of pi's extension API that this extension uses, as of pi 1.5. pi's own types come with packages that an
// extension must not install, so they are written down here; the tests with the real pi hold them.
import type { JsonObject } from 'everlong/internal'

/** An entry of a session: https://github.com/earendil-works/pi, docs/session-format.md. */
export type SessionEntry = JsonObject & { readonly type: string; readonly id: string; readonly parentId: string | null }

export type Usage = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The part of cacheWrite that was written for an hour. */
  readonly cacheWrite1h?: number
  readonly totalTokens: number
  readonly cost: { readonly [part: string]: number | boolean | undefined; readonly total: number }
}

/** A message as providers get it. */
export type ProviderMessage = JsonObject & { readonly role: string }

export type AssistantMessage = {
  readonly content: readonly JsonObject[]
  readonly model: string
  readonly usage: Usage
  readonly stopReason: string
  readonly errorMessage?: string
  readonly responseId?: string
}

export type Model = {
  readonly id: string
  readonly provider: string
  readonly contextWindow: number
  readonly maxTokens: number
  readonly cost: { readonly input: number; readonly cacheRead: number }
}

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  readonly maxTokens?: number | undefined
  readonly cacheRetention?: 'none' | 'short' | 'long'
  readonly sessionId?: string
  readonly reasoning?: string
}

export type ProviderContext = { readonly systemPrompt?: string; readonly messages: readonly ProviderMessage[] }

export type ModelRegistry = {
  /** Takes part in a session as a turn does: same options, same prompt cache. */
  readonly streamSimple: (
    model: Model,
    context: ProviderContext,
    options: CallOptions,
  ) => { readonly result: () => Promise<AssistantMessage> }
}

export type CompactionSettings = {
  readonly enabled: boolean
  readonly reserveTokens: number
  readonly keepRecentTokens: number
}

export type Context = {
  readonly hasUI: boolean
  readonly cwd: string
  readonly model: Model | undefined
  readonly thinkingLevel?: string
  readonly modelRegistry: ModelRegistry
  readonly ui: {
    readonly notify: (message: string, type?: 'info' | 'warning' | 'error') => void
    readonly setStatus: (key: string, text: string | undefined) => void
    readonly confirm: (title: string, message: string) => Promise<boolean>
  }
  readonly sessionManager: {
    readonly getSessionId: () => string
    readonly getSessionFile: () => string | undefined
    readonly getSessionDir: () => string
    readonly getHeader: () => JsonObject | null
    readonly getBranch: () => readonly SessionEntry[]
  }
  readonly getContextUsage: () => { readonly tokens: number | null; readonly contextWindow: number } | undefined
}

export type CommandContext = Context & {
  readonly waitForIdle: () => Promise<void>
  readonly navigateTree: (targetId: string, options?: JsonObject) => Promise<{ readonly cancelled: boolean }>
}

export type BeforeCompactEvent = {
  readonly preparation: {
    readonly firstKeptEntryId: string
    readonly tokensBefore: number
    readonly settings: CompactionSettings
  }
  readonly branchEntries: readonly SessionEntry[]
  readonly customInstructions?: string | undefined
  readonly reason: 'manual' | 'threshold' | 'overflow'
  readonly signal: AbortSignal
}

export type BeforeCompactResult = {
  readonly compaction: {
    readonly summary: string
    /** Null keeps nothing. */
    readonly firstKeptEntryId: string | null
    readonly tokensBefore: number
    readonly details: JsonObject
    readonly usage?: Usage
  }
}

export type CompactEvent = { readonly compactionEntry: SessionEntry; readonly fromExtension: boolean }

/** What the next request would carry, as providers get it, and the entries it comes from. */
export type BoundaryContext = {
  readonly contextEntries: readonly { readonly sourceEntry: SessionEntry; readonly messages: readonly JsonObject[] }[]
  readonly llmMessages: readonly ProviderMessage[]
}

export type ContextEditDraft = {
  readonly type: 'context_edit'
  readonly targetId: string
  readonly replacement: { readonly content: readonly JsonObject[] } | null
}

export type BoundaryEvent = { readonly entries: readonly JsonObject[]; readonly context: BoundaryContext }
export type TurnEndEvent = BoundaryEvent & { readonly toolResults: readonly unknown[]; readonly outcome: string }
export type BoundaryResult = { readonly entries: readonly JsonObject[] }

export type Tool = {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly promptSnippet: string
  /** A JSON schema. */
  readonly parameters: object
  readonly execute: (
    ...call: [toolCallId: string, input: unknown, signal: unknown, onUpdate: unknown, context: Context]
  ) => Promise<{
    readonly content: readonly { readonly type: 'text'; readonly text: string }[]
    readonly details: object
    readonly isError?: boolean
  }>
}

type Returned<R> = R | undefined | Promise<R | undefined>

type Events = {
  readonly session_start: [object, unknown]
  readonly session_shutdown: [object, unknown]
  readonly session_before_compact: [BeforeCompactEvent, BeforeCompactResult]
  readonly session_compact: [CompactEvent, unknown]
  readonly session_tree: [object, unknown]
  readonly model_select: [object, unknown]
  readonly turn_end: [TurnEndEvent, BoundaryResult]
  readonly agent_before_settle: [BoundaryEvent, BoundaryResult]
  readonly agent_settled: [object, unknown]
}

export type Pi = {
  readonly on: <Name extends keyof Events>(
    name: Name,
    handler: (event: Events[Name][0], context: Context) => Returned<Events[Name][1]>,
  ) => void
  readonly registerTool: (tool: Tool) => void
  readonly registerCommand: (
    name: string,
    command: {
      readonly description: string
      readonly getArgumentCompletions?: (prefix: string) => { readonly value: string; readonly label: string }[] | null
      readonly handler: (words: string, context: CommandContext) => Promise<void>
    },
  ) => void
  /** Adds an entry that no model sees after the newest one of the branch. */
  readonly appendEntry: (customType: string, data?: JsonObject) => void
  readonly getActiveTools: () => readonly string[]
  readonly getSettings: () => JsonObject
}
