// The options of an engine, and its host. In a browser or on the edge a host offers almost nothing (`bareHost`); everlong/node
// adds files, git, shell hooks, and a place next to the transcript. The host's own functions are made safe to call.

import type { Mechanisms } from '../mechanisms/mechanism.ts'
import { isObject, type JsonObject, objectAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { EngineEvent } from '../ports/events.ts'
import { type Hooks, type HostHooks, noHooks } from '../ports/hooks.ts'
import type { ModelClient } from '../ports/model.ts'
import { type CompactionPorts, type Offload, type SummaryPrompt, safeSummaryPrompt } from '../ports/ports.ts'
import {
  type FileRead,
  type FileStore,
  type Redact,
  type Restore,
  redactedFile,
  type SafeRedact,
} from '../ports/restore.ts'
import { type Guard, safeFunction, safeRedact } from '../ports/safely.ts'
import type { NoWorkspaceState, Workspace, WorkspaceState } from '../ports/workspace.ts'
import { createSeenFiles, seenFileStore } from '../restore/seen-files.ts'
import type { SessionState } from '../restore/state-book.ts'
import type { Environment } from '../settings/resolve.ts'
import type { EngineSettings } from '../settings/table.ts'
import type { Tokenizer } from '../tokens/estimate/counting.ts'
import { estimateTokens } from '../tokens/estimate/estimate.ts'
import type { NamedKinds } from '../tools/call.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { Conversation } from './conversation.ts'
import type { KeeperInput, MemoryKeeper } from './memory-keeper.ts'
import type { Ask } from './runtime.ts'

export type HostPorts = {
  readonly environment: Environment
  /** The working directory of sessions that do not name one. */
  readonly cwd: string
  readonly files: (input: SessionFilesInput) => SessionFiles
  readonly workspace: (input: WorkspaceInput) => Workspace | undefined
  readonly hooks: (session: HookedSession) => Hooks
  /** Keeps the notes of a session that is a file. */
  readonly notes?: (path: string, how: KeeperInput) => MemoryKeeper
  /** Stores the tool results of such a session before an edit clears them. */
  readonly keepingResults?: (
    conversation: Conversation,
    path: string,
    onProblem: (problem: string) => void,
  ) => Conversation
  /** Does the long work of one session's compactions in another thread. */
  readonly offload?: () => Offload
}

export type HookedSession = { readonly id: string; readonly path?: string | undefined; readonly cwd: string }

export type SessionFiles = {
  readonly files: FileStore
  /** Called with every message of the session, in order. `isLive` if it arrived while the session was open. */
  readonly onMessage: (message: ViewMessage, record: JsonObject, how: { readonly isLive: boolean }) => void
}

export type SessionFilesInput = {
  /** The host's own file store, which replaces all others. */
  readonly given?: FileStore | undefined
  /** The entries with which the session was opened. */
  readonly entries: readonly Entry[]
  /** The working directory that the host named. Never the one from a transcript. */
  readonly cwd: string
  readonly named?: NamedKinds | undefined
  /** Files that may be read although no message showed them: anywhere if the host named them, or only inside the workspace. */
  readonly permitted: (path: string) => 'anywhere' | 'inside' | undefined
  /** The redaction of the host's tools, which they apply to every text that they return. */
  readonly redact?: SafeRedact | undefined
}

export type WorkspaceInput = Pick<SessionFilesInput, 'given' | 'entries' | 'cwd'> & {
  /** The host named the folder. */
  readonly isNamed: boolean
}

/** Without disk and processes. Restores files only as far as the conversation showed them. */
export function bareHost(environment: Environment): HostPorts {
  return {
    environment,
    cwd: '/',
    files: ({ given, named }) => {
      if (given) return { files: given, onMessage: () => undefined }
      const seen = createSeenFiles({ named })
      return { files: seenFileStore(seen), onMessage: seen.add }
    },
    workspace: () => undefined,
    hooks: () => noHooks,
  }
}

type Provided = Partial<Omit<SessionState, 'pinned'>>

/** State that only the host knows. It overrides state that was read from the conversation. */
export type HostState = () => Provided | Promise<Provided>

/** Drops fields of the wrong shape and reports them. */
export function safeState(host: HostState, guard: Guard): HostState {
  return async () => {
    const isValid = (value: unknown) => value === undefined || isObject(value)
    const given = Object.entries(
      (await guard.read<Provided | undefined>('state', host, { isValid, otherwise: {} })) ?? {},
    )
    const fields = given.filter(([, value]) => value !== undefined)
    const wrong = fields.filter(([name, value]) => !(name === 'plan' ? isObject(value) : Array.isArray(value)))
    if (wrong.length > 0) guard.report('state', `fields of the wrong shape: ${wrong.map(([name]) => name).join(', ')}`)
    return Object.fromEntries(fields.filter((field) => !wrong.includes(field)))
  }
}

export type EngineOptions = {
  readonly model: ModelClient
  readonly settings?: EngineSettings
  readonly hooks?: HostHooks
  /**
   * Files of the workspace, for restoring. Default: what the conversation showed; with everlong/node, those below the
   * working directory.
   */
  readonly files?: FileStore
  /**
   * The workspace whose current state a compaction reads. Default: none; with everlong/node, git in the session's folder, unless
   * `files` are the host's own or the session was recorded in another folder.
   */
  readonly workspace?: Workspace
  /** Restores context after a compaction, in place of the engine's own: files, todos, plan, skills. */
  readonly restore?: Restore
  /** Replaces one or both lists of mechanisms. A function gets the defaults, which know the session's notes and files. */
  readonly mechanisms?: Partial<Mechanisms> | ((defaults: Mechanisms) => Partial<Mechanisms>)
  /** Ask mode: whether a compaction may run now. */
  readonly ask?: Ask
  readonly environment?: Environment
  readonly onEvent?: (event: EngineEvent) => void
  readonly ports?: Partial<EnginePorts>
  /**
   * Extends the instructions for a summary by a text, or replaces them with the result of a function. The nine sections are still
   * checked and completed.
   */
  readonly summaryPrompt?: SummaryPrompt
  /**
   * Whether a message must stay verbatim: a request, an answer or a tool result. It is pinned, so nothing clears it, and it is
   * restored after a compaction, up to 2,000 tokens per message and 10,000 for all.
   */
  readonly retain?: (message: ViewMessage) => boolean
  /**
   * Replaces secrets in a text, as the host's tools do in their results. Applied to restored files and to summaries. Without it,
   * only the lines of a file that a result showed are restored.
   */
  readonly redact?: Redact
  /** Counts the tokens of a text instead of the estimator. Counts that providers report still have priority. */
  readonly tokenizer?: Tokenizer
}

export type EnginePorts = Pick<CompactionPorts, 'now' | 'newId' | 'wait' | 'pause'>

export type HostFunctions = Pick<EngineOptions, 'summaryPrompt' | 'retain' | 'redact' | 'tokenizer'>

export function safeFunctions({ summaryPrompt, retain, redact, tokenizer }: HostFunctions, guard: Guard) {
  return {
    summaryPrompt: summaryPrompt && safeSummaryPrompt(summaryPrompt, guard),
    redact: redact && safeRedact(redact, guard),
    retainer: retain && createRetainer(retain, guard),
    tokenizer: tokenizer && safeTokenizer(tokenizer, guard),
  }
}

/** Pins the messages of a conversation that the host retains. */
export type Retainer = (conversation: Conversation) => void

/** Judges each message once. A message that is pinned already, perhaps by another process, is not pinned again. */
function createRetainer(retain: NonNullable<EngineOptions['retain']>, guard: Guard): Retainer {
  const isRetained = safeFunction('retain', retain, { guard, isValid: (result) => typeof result === 'boolean' })
  const judged = new Set<string>()
  return (conversation) => {
    const { sources, pins } = conversation.view()
    const pinned = new Set(pins)
    const fresh = sources
      .flatMap(({ pieces }) => pieces)
      .filter(({ uuid, origin }) => {
        // A summary or restored text may quote the text that the host looks for.
        if (uuid === undefined || judged.has(uuid) || origin === 'summary' || origin === 'attachment') return false
        judged.add(uuid)
        return !pinned.has(uuid)
      })
    const edits = fresh
      .filter((message) => isRetained(message))
      .map(({ uuid = '' }) => ({ type: 'pin' as const, uuid }))
    if (edits.length > 0) conversation.edit(edits)
  }
}

/** After the first failure the estimator counts everything. A tokenizer is called for every text, and sizes must be comparable. */
function safeTokenizer(tokenizer: Tokenizer, guard: Guard): Tokenizer {
  let isBroken = false
  const report: Guard['report'] = (code, problem) => {
    isBroken = true
    guard.report(code, `${problem}; the estimator counts from now on`)
  }
  const isValid = (tokens: unknown) => typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0
  const safe = safeFunction('tokenizer', tokenizer, { guard: { ...guard, report }, isValid })
  return (text) => (isBroken ? undefined : safe(text)) ?? estimateTokens(text)
}

const fileTimeoutMs = 10_000

/** No read is started while another hangs. Otherwise a compaction that restores many files would wait for each of them. */
export function safeFiles(files: FileStore, guard: Guard, redact: SafeRedact | undefined): FileStore {
  const hanging = new Set<object>()
  return {
    read: async (path) => {
      if (hanging.size > 0) return { type: 'refused', why: 'an earlier read has not come back' }
      let isOver = false
      const read = async (): Promise<unknown> => {
        try {
          return await files.read(path)
        } finally {
          isOver = true
          hanging.delete(read)
        }
      }
      const otherwise: FileRead = { type: 'refused', why: 'it could not be read' }
      const file = await guard.read('files', read, { isValid: isFileRead, timeoutMs: fileTimeoutMs, otherwise })
      if (!isOver) hanging.add(read)
      return redactedFile(file, redact)
    },
  }
}

function isFileRead(value: unknown): boolean {
  if (!isObject(value)) return false
  return value.type === 'text'
    ? typeof value.text === 'string'
    : ['missing', 'binary', 'refused'].includes(String(value.type))
}

const workspaceLists = ['staged', 'unstaged', 'untracked', 'conflicts'] as const

export function safeWorkspace(workspace: Workspace, guard: Guard): Workspace {
  const isValid = (value: unknown) =>
    isObject(value) &&
    (value.type === 'unknown'
      ? typeof value.why === 'string'
      : value.type === 'state' && workspaceLists.every((list) => Array.isArray(objectAt(value, list)?.items)))
  const otherwise: NoWorkspaceState = { type: 'unknown', why: 'the workspace could not be asked' }
  return {
    state: (query) =>
      guard.read<WorkspaceState | NoWorkspaceState>('workspace', () => workspace.state(query), {
        isValid,
        otherwise,
        signal: query?.signal,
      }),
  }
}
