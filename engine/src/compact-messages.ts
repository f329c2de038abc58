// A compaction for hosts with plain messages and no session. Reads and writes no files.
import { modelFacts } from './core/catalog/models.ts'
import { runCompaction } from './core/compaction/run.ts'
import { fromJson, toJson } from './core/ledger/json.ts'
import { defined, type JsonObject, objectAt, stringAt } from './core/message/json.ts'
import type { Message } from './core/message/message.ts'
import { noTokens, type TokenCounts } from './core/message/usage.ts'
import type { Emit } from './core/ports/events.ts'
import { type FidelityReport, type HostHooks, noHooks } from './core/ports/hooks.ts'
import type { AbortSignalPort, ModelClient, ModelRequest } from './core/ports/model.ts'
import { type Failed, failed, type Tried } from './core/ports/outcome.ts'
import { type SummaryPrompt, safeSummaryPrompt } from './core/ports/ports.ts'
import type { Redact, Restore } from './core/ports/restore.ts'
import { createGuard, createListeners, safeHooks, safeModel, safeRedact, safeRestore } from './core/ports/safely.ts'
import { type CompactionSettings, compactionOff, type Environment } from './core/settings/resolve.ts'
import { wellFormed } from './core/text/cut.ts'
import { contextFrame, neutralizeReminders } from './core/text/neutralize.ts'
import type { Counting } from './core/tokens/estimate/counting.ts'
import { offline } from './models/offline.ts'
import { systemPorts } from './models/ports.ts'
import {
  type AnyMessage,
  firstOfNewest,
  foreignKind,
  indexOfPlain,
  type LangChainLike,
  type PlainMessage,
  readPlain,
  uuidOfPlain,
  withoutThinking,
} from './plain-messages.ts'

export type CompactMessagesOptions = {
  /** Writes the summary: `anthropic(…)`, `openai(…)`. Without it, code writes the summary. */
  readonly model?: ModelClient
  /** Instructions for the summary. */
  readonly instructions?: string
  /** Maximum tokens of all new messages, by `countTokens`. */
  readonly budget?: number
  /**
   * Number of the newest messages that stay unchanged. Default: 0. The cut moves so that no call loses its result. Their thinking
   * is removed, unless the model (of `conversation`, otherwise `model`) is known not to bind it to earlier messages.
   */
  readonly keep?: number
  /** The conversation's own request, to share its prompt cache. */
  readonly conversation?: ModelRequest
  /** The `ledger` of the previous compaction: facts that are carried over. */
  readonly ledger?: JsonObject
  readonly settings?: Partial<CompactionSettings>
  /** Extends the instructions for the summary by a text, or replaces them with the result of a function. */
  readonly summaryPrompt?: SummaryPrompt
  /** Replaces secrets in the summary. */
  readonly redact?: Redact
  readonly counting?: Counting
  readonly hooks?: HostHooks
  readonly restore?: Restore
  readonly onEvent?: Emit
  readonly signal?: AbortSignalPort
  /** The variables for `DISABLE_COMPACT`, for example `process.env`. Default: none. */
  readonly environment?: Environment
}

/** If it failed, `messages` are the given ones, unchanged, and `reason` says why. */
export type CompactOutcome<M extends AnyMessage> =
  | {
      readonly type: 'compacted'
      /** System messages, the summary, kept messages. A user message after the summary is merged with it. */
      readonly messages: (M extends LangChainLike ? M : M | UserText)[]
      readonly summary: string
      readonly tokens: { readonly before: number; readonly after: number }
      /** `cache-sharing`, `direct`, `direct-truncated`, `windows`, `hook` or `offline`. */
      readonly mechanism: string
      readonly fidelity: FidelityReport
      readonly tried: readonly Tried[]
      readonly usage: TokenCounts
      readonly cost?: number
      /** Pass it to the next compaction. */
      readonly ledger: JsonObject
    }
  | (Failed & { readonly usage: TokenCounts; readonly messages: M[] })

/** A new message, in every shape except LangChain's. */
type UserText = { role: 'user'; content: string }

export async function compactMessages<M extends AnyMessage>(
  messages: readonly M[],
  options: CompactMessagesOptions = {},
): Promise<CompactOutcome<M>> {
  const kind = foreignKind(messages)
  if (!kind) return compactPlain(messages as readonly PlainMessage[], options) as Promise<CompactOutcome<M>>
  const { readForeign } = await import('./foreign-messages.ts')
  const { plain, givenBack } = readForeign(messages, { kind, caller: 'compact' })
  const outcome = await compactPlain(plain, options)
  if (outcome.type === 'failed') return { ...outcome, messages: messages as M[] }
  return { ...outcome, messages: givenBack(outcome.messages as readonly Message[]) as never }
}

async function compactPlain<M extends PlainMessage>(
  messages: readonly M[],
  options: CompactMessagesOptions,
): Promise<CompactOutcome<M>> {
  const { view, system } = readPlain(messages, 'compact')
  const { keep = 0, ledger, conversation, instructions, budget, restore, settings, counting } = options
  if (!Number.isInteger(keep) || keep < 0)
    throw new TypeError(`compact(): keep is ${String(keep)}; it must be a whole number of messages, 0 or more.`)
  const { emit } = createListeners(options.onEvent)
  const { now, wait } = systemPorts
  const guard = createGuard({ emit, wait })
  const refusal = refusalOf(options, keep, view.messages.length)
  if (refusal) return { ...refusal, usage: noTokens, messages: messages as M[] }
  const first = keep === 0 ? 0 : firstOfNewest(messages, keep)
  const result = await runCompaction(
    {
      trigger: 'manual',
      reason: 'compact()',
      view,
      threshold: 0,
      sessionId: 'plain',
      ...(ledger ? { carried: () => fromJson(ledger) } : {}),
      ...(first > 0 ? { partial: { type: 'up-to', uuid: uuidOfPlain(first) } } : {}),
      conversation,
      instructions,
      budget,
      restore: restore && safeRestore(restore, guard),
      ...defined({ settings, counting }),
    },
    {
      now,
      newId: () => crypto.randomUUID(),
      model: safeModel(options.model ?? offline(), guard),
      hooks: safeHooks(options.hooks ?? noHooks, wait),
      redact: options.redact && safeRedact(options.redact, guard),
      summaryPrompt: options.summaryPrompt && safeSummaryPrompt(options.summaryPrompt, guard),
      emit,
      wait,
    },
    { signal: options.signal },
  )
  if (result.type === 'failed') return { usage: noTokens, ...result, messages: messages as M[] }
  const { summary, tokens, mechanism, fidelity, tried, usage, cost, records, contextAfter, keptUuids } = result
  const kept = keptUuids.flatMap((uuid) => messages[indexOfPlain(uuid)] ?? [])
  // Thinking is invalid after a summary if the model binds it to earlier messages. An unknown model may do so.
  const isFree = modelFacts(conversation?.model || options.model?.model || '')?.bindsThinking === false
  const left = isFree ? kept : kept.flatMap(withoutThinking)
  const opened = withText(left, wellFormed(neutralizeReminders(summary)), 'first')
  const context = contextIn(records.slice(2), contextAfter)
  return {
    type: 'compacted',
    messages: [
      ...system.flatMap((index) => messages[index] ?? []),
      ...(context === undefined ? opened : withText(opened, context, 'last')),
    ],
    summary,
    tokens,
    mechanism,
    fidelity,
    tried,
    usage,
    ...defined({ cost }),
    ledger: toJson(result.ledger),
  } as CompactOutcome<M>
}

/** The reason to refuse before trying anything. */
function refusalOf({ environment = {} }: CompactMessagesOptions, keep: number, length: number): Failed | undefined {
  const off = compactionOff({ environment })
  if (off !== undefined) return failed('vetoed', off)
  if (keep === 0 || keep < length) return undefined
  const why = `All ${length} messages are to be kept (keep is ${keep}): there is nothing left to compact.`
  return failed('nothing-to-compact', why)
}

/** The restored context and the text of hooks, as one labelled text. */
function contextIn(records: readonly JsonObject[], after: readonly string[]): string | undefined {
  const pieces = [...records.flatMap(({ attachment }) => stringAt(attachment, 'content') ?? []), ...after]
  const last = records.flatMap((record) => stringAt(objectAt(record, 'message'), 'content') ?? [])
  if (pieces.length === 0) return undefined
  return wellFormed([contextFrame(pieces), ...last.map(neutralizeReminders)].join('\n\n'))
}

/** Adds a text at one end: to the message there if it is the user's, so that roles alternate. */
function withText<M extends PlainMessage>(
  messages: readonly M[],
  text: string,
  end: 'first' | 'last',
): readonly (M | UserText)[] {
  const at = end === 'first' ? 0 : messages.length - 1
  const there = messages[at]
  const ordered = <T>(ours: T, theirs: T) => (end === 'first' ? [ours, theirs] : [theirs, ours])
  if (there?.role !== 'user')
    return ordered<readonly (M | UserText)[]>([{ role: 'user', content: text }], messages).flat()
  const blocks = [{ type: 'text', text }]
  const { content } = there
  const joined =
    typeof content === 'string'
      ? ordered(text, content).join('\n\n')
      : ordered<readonly object[]>(blocks, content ?? []).flat()
  return messages.with(at, { ...there, content: joined })
}
