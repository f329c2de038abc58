// The options of an engine, and those of them that are functions of the host's: how to ask for a summary, what to keep
// verbatim, what is secret, how to count tokens. One that fails is reported, and the session continues without its answer.
import type { ViewMessage } from '../message/message.ts'
import type { EngineEvent } from '../ports/events.ts'
import type { Guard } from '../ports/guarded.ts'
import { guardedFunction, guardedRedact, guardedSummaryPrompt, type SummaryPrompt } from '../ports/guarded-ports.ts'
import type { HostHooks } from '../ports/hooks.ts'
import type { ModelClient } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { FileStore, Redact, Restore } from '../ports/restore.ts'
import type { Workspace } from '../ports/workspace.ts'
import type { Environment } from '../settings/resolve.ts'
import type { EngineSettings } from '../settings/table.ts'
import type { Tokenizer } from '../tokens/estimate/counting.ts'
import { estimateTokens } from '../tokens/estimate/estimate.ts'
import type { Conversation } from './conversation.ts'
import type { Mechanisms } from './mechanisms.ts'

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
   * What a compaction asks for the current state of the work. Default: nothing; with everlong/node, git in the session's
   * folder, unless `files` are the host's own or the session was recorded in another folder.
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
   * Extends the instructions for a summary by a text, or replaces them by what a function makes of them. The nine sections
   * are checked and completed all the same.
   */
  readonly summaryPrompt?: SummaryPrompt
  /**
   * Whether a message must stay verbatim: a request, an answer or a tool result. It is pinned, so nothing clears it, and it is
   * restored after a compaction: at most 2,000 tokens of each message, and 10,000 of all.
   */
  readonly retain?: (message: ViewMessage) => boolean
  /**
   * Replaces secrets in a text, as the host's tools do in their results. Files are restored and summaries are kept with
   * what it returns. Without it, only those lines of a file are restored that a result showed.
   */
  readonly redact?: Redact
  /** Counts the tokens of a text, in place of the estimator. What providers report still counts more. */
  readonly tokenizer?: Tokenizer
}

/** Ask mode: undefined, or no answer in time, means no. */
export type Ask = (question: { readonly tokens: number; readonly threshold: number }) => Promise<boolean | undefined>

export type EnginePorts = Pick<CompactionPorts, 'now' | 'newId' | 'wait'>

export function guardedFunctions({ summaryPrompt, retain, redact, tokenizer }: EngineOptions, guard: Guard) {
  return {
    summaryPrompt: summaryPrompt && guardedSummaryPrompt(summaryPrompt, guard),
    redact: redact && guardedRedact(redact, guard),
    retainer: retain && createRetainer(retain, guard),
    tokenizer: tokenizer && guardedTokenizer(tokenizer, guard),
  }
}

/** Pins the messages of a conversation that the host retains. */
export type Retainer = (conversation: Conversation) => void

/** Judges each message once. What was pinned before, perhaps by another process, is not pinned again. */
function createRetainer(retain: NonNullable<EngineOptions['retain']>, guard: Guard): Retainer {
  const isRetained = guardedFunction('retain', retain, { guard, isValid: (result) => typeof result === 'boolean' })
  const judged = new Set<string>()
  return (conversation) => {
    const { sources, pins } = conversation.view()
    const pinned = new Set(pins)
    const fresh = sources
      .flatMap(({ pieces }) => pieces)
      .filter(({ uuid, origin }) => {
        // A summary or a restored text may quote what the host looks for.
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

/** After the first failure the estimator counts: a tokenizer is called for every text, and sizes must be comparable. */
function guardedTokenizer(tokenizer: Tokenizer, guard: Guard): Tokenizer {
  let isBroken = false
  const report: Guard['report'] = (code, problem) => {
    isBroken = true
    guard.report(code, `${problem}; the estimator counts from now on`)
  }
  const isValid = (tokens: unknown) => typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0
  const safe = guardedFunction('tokenizer', tokenizer, { guard: { ...guard, report }, isValid })
  return (text) => (isBroken ? undefined : safe(text)) ?? estimateTokens(text)
}
