// Puts the new context together: the page, the restored context, the context from hooks, and the user's latest request at the
// end. Drops and lists restored pieces that do not fit; restoring never fails a compaction.
import type { Exchange, Ledger } from '../ledger/facts.ts'
import { wholeRequest } from '../ledger/ledger.ts'
import { defined } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { missingText, nothingRestored, pieceText, type Restoration, type RestoredPiece } from '../ports/restore.ts'
import { continuationText, latestRequestText, type Progress } from '../prompts/continuation.ts'
import type { Unseen } from '../prompts/page.ts'
import { condensed } from '../text/cut.ts'
import { neutralize } from '../text/neutralize.ts'
import { countTokens, createTextCounter } from '../tokens/estimate/counting.ts'
import { attachmentContent } from '../transcript/format/attachments.ts'
import type { AttachmentFacts } from '../transcript/format/compaction-records.ts'
import { mergedMessages } from '../transcript/view/merge.ts'
import type { CompactionJob } from './job.ts'
import { isSaid, isStarted, leadOf } from './page/complete-words.ts'
import { type Planned, piecesOf } from './plan.ts'

export type Assembled = {
  readonly summary: string
  readonly attachments: readonly AttachmentFacts[]
  readonly closing: string | undefined
  /** The user's latest request at the end of the context, in the summary or after it. Undefined if a kept message contains it. */
  readonly request: string | undefined
  readonly messages: readonly ViewMessage[]
  readonly tokens: number
  /** Tokens of the summary and the kept messages, without the parts after them. */
  readonly frontTokens: number
  readonly restored: Restoration
}

/** The latest request that needs the agent. A command of the client does not. */
export function latestRequest({ exchanges }: Ledger): Exchange | undefined {
  return exchanges.findLast((exchange) => isSaid(exchange) && exchange.kind !== 'answer')
}

/** The agent's progress with the request, as far as the conversation shows it. */
export function progressOn(request: Exchange, { exchanges, isAnswered }: Ledger): Progress {
  if (isAnswered) return 'answered'
  const since = exchanges.slice(exchanges.indexOf(request))
  return since.length > 1 || since.some(isStarted) ? 'begun' : 'new'
}

export type ContextFrame = ReturnType<typeof frameOf>

/** Everything around the page. Known before the page is written. */
export function frameOf(job: CompactionJob, plan: Planned, ledger: Ledger) {
  const { parts, kept } = plan
  const latest = latestRequest(ledger)
  const closing =
    latest &&
    latestRequestText(
      [leadOf(latest), neutralize(requestWithin(latest, { job, plan }))].filter((part) => part !== '').join('\n'),
      progressOn(latest, ledger),
    )
  // The last messages of the ledger are the ones kept after the summary.
  const isKept = parts.variant === 'up-to' && latest !== undefined && latest.last >= ledger.messages - kept.length
  const auto = job.isAutonomous ? 'autonomous' : 'auto'
  // boundary → summary → kept messages → attachments → hook results. With `from`, kept messages come first.
  const messagesWith = (summary: string, rest: readonly ViewMessage[]) =>
    mergedMessages(
      parts.variant === 'from' ? [...kept, asSummary(summary), ...rest] : [asSummary(summary), ...kept, ...rest],
    )
  return {
    /** The text of the summary message with this page. */
    summaryWith: (page: string, { isShort, hasEnd = true }: { isShort?: boolean; hasEnd?: boolean } = {}) =>
      continuationText({
        summary: page,
        mode: job.trigger === 'manual' ? 'manual' : auto,
        transcriptPath: job.transcriptPath,
        recall: job.recall,
        kept: parts.variant === 'full' ? undefined : parts.variant === 'from' ? 'before' : 'after',
        end: hasEnd && !isKept ? closing : undefined,
        isShort,
      }),
    messagesWith,
    /** Tokens of the new context with this summary and the rest. */
    sizeWith: (summary: string, rest: readonly ViewMessage[] = []) =>
      countTokens(messagesWith(summary, rest), job.counting),
    /** The latest request, at the end of the context. */
    closing,
    /** The request at the end of the context. Undefined if it is kept or there is none. */
    closes: isKept ? undefined : latest,
    /** The place of the latest request if the summarizer has not seen it: after the summary, or at the end of the context. */
    unseen: unseenAt(latest, { isKept, job }),
  }
}

/** No summarizer has seen text that the user typed while the agent worked and that is not in a message yet. */
function unseenAt(
  latest: Exchange | undefined,
  { isKept, job: { queued = [] } }: { readonly isKept: boolean; readonly job: CompactionJob },
): Unseen | undefined {
  if (isKept) return 'follows'
  return latest?.kind === 'queued' && latest.uuid === undefined && queued.length > 0 ? 'ends' : undefined
}

/** The share of a small context that stays for the page next to the latest request. */
const pageShare = 0.25

/** Whole if that leaves room for the handover, otherwise with folded pasted blocks, otherwise its first and last sentences. */
function requestWithin({ text, uuid }: Exchange, { job, plan }: RestoreInput): string {
  const { limit, kept, handover } = plan.tokens
  const room = limit - kept - Math.min(handover, (limit - kept) * pageShare)
  const message = piecesOf(job.view).findLast((piece) => isRequest(piece.origin) && piece.uuid === uuid)
  const count = createTextCounter(job.counting)
  const typed = message === undefined || uuid === undefined ? text : wholeRequest(message)
  const whole = [typed, text].find((words) => count(words) <= room)
  return whole ?? condensed(text, Math.floor((text.length * room * 0.8) / count(text)))
}

const frameTokens = 60
const promised: readonly string[] = ['pinned', 'plan']

type RestoreInput = { readonly job: CompactionJob; readonly plan: Planned; readonly next?: string }

/**
 * The user relies on pinned items and the plan, so a page that fills the limit must leave room for them, up to a quarter of the
 * limit.
 */
export function promisedTokens({ pieces }: Restoration, { job, plan }: RestoreInput): number {
  const share = Math.floor(plan.tokens.limit / 4)
  return pieces
    .filter(({ kind }) => promised.includes(kind))
    .map((piece) => countTokens([asSeen(attachmentOf(piece))], job.counting) + frameTokens)
    .reduce((tokens, more) => (tokens + more <= share ? tokens + more : tokens), 0)
}

export async function restoreWithin({ job, plan, next = '' }: RestoreInput, tokens: number): Promise<Restoration> {
  const budget = Math.min(plan.settings.restoreTokens, tokens)
  if (!job.restore || budget <= 0) return nothingRestored
  return job.restore({
    kept: plan.kept,
    removed: plan.parts.summarized,
    budget,
    countTokens: createTextCounter(job.counting),
    ...(job.reason === 'economy' ? { isEarly: true } : {}),
    ...defined({ next }),
  })
}

export type AssembleInput = {
  readonly page: string
  readonly isShort: boolean
  readonly restored: Restoration
  readonly context: readonly string[]
  readonly limit: number
}

/** If it is too large, drops the list of missing items first, then the last restored pieces. */
export function assemble(frame: ContextFrame, input: AssembleInput): Assembled {
  for (let count = input.restored.pieces.length; ; count--) {
    for (const namesMissing of [true, false]) {
      const assembled = assembledWith(frame, input, { count, namesMissing })
      if (assembled.tokens <= input.limit || (count === 0 && !namesMissing)) return assembled
    }
  }
}

function assembledWith(
  frame: ContextFrame,
  { page, isShort, restored, context }: AssembleInput,
  { count, namesMissing }: { readonly count: number; readonly namesMissing: boolean },
): Assembled {
  const pieces = restored.pieces.slice(0, count)
  const left = restored.pieces.slice(count)
  const unfit = left.map(({ kind, title, path }) => ({ kind, what: path ?? title, why: 'it does not fit' }))
  const notRestored = [...restored.notRestored, ...unfit]
  const missing = namesMissing ? missingText(notRestored) : undefined
  const attachments = [
    ...pieces.map(attachmentOf),
    ...(missing === undefined ? [] : [{ type: 'not_restored', content: missing, isRestored: true }]),
    ...context.map(hookAttachment),
  ]
  const hasRest = attachments.length > 0
  const closing = hasRest ? frame.closing : undefined
  const summary = frame.summaryWith(page, { isShort, hasEnd: !hasRest })
  const rest = [...attachments.map(asSeen), ...(closing === undefined ? [] : [asSummary(closing)])]
  const messages = frame.messagesWith(summary, rest)
  const tokens = frame.sizeWith(summary, rest)
  const now = { pieces, notRestored, tokens: pieces.reduce((sum, piece) => sum + piece.tokens, 0) }
  const request = frame.closes && frame.closing
  return {
    summary,
    attachments,
    closing,
    request,
    messages,
    tokens,
    frontTokens: frame.sizeWith(summary),
    restored: now,
  }
}

function attachmentOf(piece: RestoredPiece): AttachmentFacts {
  const { kind, path, entry, state } = piece
  return { type: kind, content: pieceText(piece), isRestored: true, ...defined({ filename: path, entry, state }) }
}

function hookAttachment(content: string): AttachmentFacts {
  return { type: 'hook_additional_context', content, hookEvent: 'SessionStart', hookName: 'SessionStart:compact' }
}

/** The form in which the record will be read, so that the measured context is the real one. */
function asSeen(attachment: AttachmentFacts): ViewMessage {
  const content = attachmentContent(attachment)
  return { role: 'user', content, origin: 'attachment', attachment: attachment.type }
}

function asSummary(content: string): ViewMessage {
  return { role: 'user', content, origin: 'summary' }
}
