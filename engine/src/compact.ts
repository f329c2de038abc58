// compact(messages, options): the compaction procedure for whoever holds plain messages and no session. Nothing is read
// from or written to a disk.
import { modelFacts } from './core/catalog/models.ts'
import type { CompactionFailed, CompactionSettings } from './core/compaction/job.ts'
import { runCompaction } from './core/compaction/run.ts'
import { fromJson, toJson } from './core/ledger/json.ts'
import { type JsonObject, objectAt, stringAt } from './core/message/json.ts'
import { contextFrame } from './core/message/reminder.ts'
import { noTokens, type TokenCounts } from './core/message/usage.ts'
import type { Emit, Tried } from './core/ports/events.ts'
import type { FidelityReport } from './core/ports/fidelity.ts'
import { createGuard, createListeners } from './core/ports/guarded.ts'
import { guardedHooks, guardedModel, guardedRestore } from './core/ports/guarded-ports.ts'
import { type Hooks, noHooks } from './core/ports/hooks.ts'
import type { AbortSignalPort, ModelClient, ModelRequest } from './core/ports/model.ts'
import type { Restore } from './core/ports/restore.ts'
import { neutralizeReminders } from './core/text/neutralize.ts'
import { wellFormed } from './core/text/well-formed.ts'
import type { Counting } from './core/tokens/estimate/counting.ts'
import { compactionOff, type Environment } from './core/tokens/settings.ts'
import { offline } from './models/offline.ts'
import { systemPorts } from './models/ports.ts'
import {
  checkPlain,
  firstOfNewest,
  indexOfPlain,
  type PlainMessage,
  readPlain,
  type UserText,
  userText,
  uuidOfPlain,
  withoutThinking,
  withText,
} from './plain-messages.ts'

export type CompactMessagesOptions = {
  /** Writes the summary: `anthropic(…)`, `openai(…)`. Left out, the summary is made by code, without a model. */
  readonly model?: ModelClient
  /** What the summary is to pay heed to. */
  readonly instructions?: string
  /** Tokens that the new messages may have together, by `countTokens`. */
  readonly budget?: number
  /**
   * Keep so many of the newest messages as they are. The cut moves so that no call loses its result. Thinking in them goes
   * unless the model (of `conversation`, else of `model`) is known not to bind it to what came before. Default 0.
   */
  readonly keep?: number
  /** The conversation's own request, to share its prompt cache: one message is put behind it. */
  readonly conversation?: ModelRequest
  /** What the compaction before gave back: facts of the conversation, carried from round to round. */
  readonly ledger?: JsonObject
  readonly settings?: Partial<CompactionSettings>
  readonly counting?: Counting
  readonly hooks?: Hooks
  readonly restore?: Restore
  readonly onEvent?: Emit
  readonly signal?: AbortSignalPort
  /** Where `DISABLE_COMPACT` is looked up: the environment of the process unless said. */
  readonly environment?: Environment
}

/** What came of it. On failure the messages are those that were given, untouched, and `reason` says why. */
export type CompactOutcome<M extends PlainMessage> =
  | {
      readonly type: 'compacted'
      /**
       * To go on with: system messages first, then the summary, then what was kept, as the objects that were given unless
       * something had to change. A user's message that follows the summary is put into the summary's own.
       */
      readonly messages: (M | UserText)[]
      readonly summary: string
      readonly tokens: { readonly before: number; readonly after: number }
      /** `cache-sharing`, `direct`, `direct-truncated`, `windows`, `hook` or `offline`. */
      readonly mechanism: string
      readonly fidelity: FidelityReport
      readonly tried: readonly Tried[]
      readonly usage: TokenCounts
      readonly cost?: number
      /** To hand in the next time. */
      readonly ledger: JsonObject
    }
  | (Pick<CompactionFailed, 'type' | 'reason' | 'detail' | 'tried' | 'usage'> & { readonly messages: M[] })

/**
 * Makes a long conversation short: older messages become one summary that is held against its source, the newest may
 * stay word for word. Takes messages in the shape of the Messages API or of chat completions, and gives them back in it.
 *
 * ```ts
 * const result = await compact(messages, { model: anthropic({ model: 'claude-sonnet-5' }), keep: 6 })
 * if (result.type === 'compacted') messages = result.messages
 * ```
 */
export async function compact<M extends PlainMessage>(
  messages: readonly M[],
  options: CompactMessagesOptions = {},
): Promise<CompactOutcome<M>> {
  const plain = readPlain(checkPlain(messages, 'compact'))
  const keep = checkKeep(options.keep)
  const { emit } = createListeners(options.onEvent)
  const guard = createGuard({ emit, wait: systemPorts.wait })
  const refusal = refusalOf(options, { keep, length: plain.view.messages.length })
  if (refusal) return { type: 'failed', ...refusal, tried: [], usage: noTokens, messages: messages as M[] }
  const partial = partialOf(messages, keep)
  const result = await runCompaction(
    {
      trigger: 'manual',
      reason: 'compact()',
      view: plain.view,
      threshold: 0,
      sessionId: 'plain',
      ...(options.ledger ? { carried: fromJson(options.ledger) } : {}),
      ...(partial ? { partial: { type: 'up-to', uuid: uuidOfPlain(partial.first) } } : {}),
      conversation: options.conversation,
      instructions: options.instructions,
      budget: options.budget,
      restore: options.restore && guardedRestore(options.restore, guard),
      ...(options.settings ? { settings: options.settings } : {}),
      ...(options.counting ? { counting: options.counting } : {}),
    },
    {
      now: systemPorts.now,
      newId: () => crypto.randomUUID(),
      model: guardedModel(options.model ?? offline(), guard),
      hooks: guardedHooks(options.hooks ?? noHooks, systemPorts.wait),
      files: { read: async () => ({ type: 'missing' }) },
      emit,
      wait: systemPorts.wait,
    },
    options.signal,
  )
  if (result.type === 'failed') {
    const { reason, detail, tried, usage } = result
    return { type: 'failed', reason, detail, tried, usage, messages: messages as M[] }
  }
  const kept = new Set(result.keptUuids.map(indexOfPlain))
  const { tokens, mechanism, fidelity, tried, usage, cost } = result
  return {
    type: 'compacted',
    messages: [
      ...plain.system.flatMap((index) => messages[index] ?? []),
      ...behindSummary(wellFormed(neutralizeReminders(result.summary)), {
        kept: withoutBoundThinking(
          messages.filter((_, index) => kept.has(index)),
          options,
        ),
        context: contextIn(result.records.slice(2), result.contextAfter),
      }),
    ],
    summary: result.summary,
    tokens,
    mechanism,
    fidelity,
    tried,
    usage,
    ...(cost === undefined ? {} : { cost }),
    ledger: toJson(result.ledger),
  }
}

function checkKeep(keep = 0): number {
  if (Number.isInteger(keep) && keep >= 0) return keep
  throw new TypeError(`compact(): keep is ${String(keep)}; it must be a whole number of messages, 0 or more.`)
}

/** Why nothing is tried at all. */
function refusalOf(
  { environment = globalThis.process?.env }: CompactMessagesOptions,
  { keep, length }: { readonly keep: number; readonly length: number },
): Pick<CompactionFailed, 'reason' | 'detail'> | undefined {
  const off = compactionOff({ environment })
  if (off !== undefined) return { reason: 'vetoed', detail: off }
  if (keep === 0 || keep < length) return undefined
  const detail = `All ${length} messages are to be kept (keep is ${keep}): there is nothing left to compact.`
  return { reason: 'nothing_to_compact', detail }
}

/** What was put back, and what hooks said, as one text that says what it is. */
function contextIn(records: readonly JsonObject[], after: readonly string[]): string | undefined {
  const pieces = [...records.flatMap(({ attachment }) => stringAt(attachment, 'content') ?? []), ...after]
  const last = records.flatMap((record) => stringAt(objectAt(record, 'message'), 'content') ?? [])
  if (pieces.length === 0) return undefined
  return wellFormed([contextFrame(pieces), ...last.map(neutralizeReminders)].join('\n\n'))
}

/** The summary before what was kept, the context behind it, and no two messages of the user in a row because of them. */
function behindSummary<M extends PlainMessage>(
  summary: string,
  { kept, context }: { readonly kept: readonly M[]; readonly context: string | undefined },
): readonly (M | UserText)[] {
  const [first, ...rest] = kept
  const opened = first?.role === 'user' ? [withText(first, { before: summary }), ...rest] : [userText(summary), ...kept]
  if (context === undefined) return opened
  const last = opened.at(-1)
  return last?.role === 'user'
    ? [...opened.slice(0, -1), withText(last, { behind: context })]
    : [...opened, userText(context)]
}

/** Thinking is void behind a summary where the model binds it to what came before; a model nobody knows may do so. */
function withoutBoundThinking<M extends PlainMessage>(
  kept: readonly M[],
  { conversation, model }: CompactMessagesOptions,
): readonly M[] {
  const isFree = modelFacts(conversation?.model || model?.model || '')?.bindsThinking === false
  return isFree ? kept : kept.flatMap(withoutThinking)
}

function partialOf(messages: readonly PlainMessage[], keep: number): { readonly first: number } | undefined {
  if (keep <= 0) return undefined
  const first = firstOfNewest(messages, keep)
  return first > 0 ? { first } : undefined
}
