// The part of the Claude Agent SDK that is used here, described by its structure. The package carries a binary of 200 MB,
// so it is not a dependency; `npm run test:agents` checks these types against the real ones.

export type AgentSessionKey = {
  readonly projectKey: string
  readonly sessionId: string
  /** Path of a sub-agent's transcript. */
  readonly subpath?: string
}

/** One line of a transcript. */
export type AgentEntry = {
  type: string
  uuid?: string
  timestamp?: string
  [field: string]: unknown
}

/** The SDK's own state about a session, for lists. */
export type AgentSummary = { sessionId: string; mtime: number; data: Record<string, unknown> }

/** `foldSessionSummary` of the SDK. */
export type FoldSummary = (
  before: AgentSummary | undefined,
  key: { projectKey: string; sessionId: string },
  entries: AgentEntry[],
) => AgentSummary

/** `options.sessionStore` of a query. */
export type AgentSessionStore = {
  readonly append: (key: AgentSessionKey, entries: readonly AgentEntry[]) => Promise<void>
  readonly load: (key: AgentSessionKey) => Promise<AgentEntry[] | null>
  readonly listSessions: (projectKey: string) => Promise<{ sessionId: string; mtime: number }[]>
  readonly listSessionSummaries?: (projectKey: string) => Promise<AgentSummary[]>
  readonly delete: (key: AgentSessionKey) => Promise<void>
  readonly listSubkeys: (key: AgentSessionKey) => Promise<string[]>
}

/** The fields of hook inputs that are used here. */
export type HookInput = {
  readonly hook_event_name: string
  readonly session_id: string
  readonly transcript_path: string
  readonly cwd: string
  readonly [field: string]: unknown
}

export type HookOutput = {
  decision?: 'block'
  reason?: string
  systemMessage?: string
  hookSpecificOutput?:
    | { hookEventName: 'SessionStart' | 'UserPromptSubmit' | 'PostToolBatch'; additionalContext: string }
    | { hookEventName: 'PostToolUse'; updatedToolOutput: unknown }
}

export type AgentHook = { hooks: ((input: HookInput) => Promise<HookOutput>)[] }

/** `options.hooks` of a query, or a part of them. */
export type AgentHooks = {
  PreCompact: AgentHook[]
  PostCompact: AgentHook[]
  SessionStart: AgentHook[]
  UserPromptSubmit: AgentHook[]
  PostToolBatch: AgentHook[]
  PostToolUse: AgentHook[]
}
