// What stands behind the summary in the new context: restored pieces, what hooks said, the latest request. Restored
// pieces that do not fit are left out and named; restoring never fails a compaction.
import type { ViewMessage } from '../message/message.ts'
import { nothingRestored, type Piece, type Restoration } from '../ports/restore.ts'
import { missingText, pieceText } from '../restore/restore.ts'
import type { AttachmentFacts } from '../transcript/compaction-records.ts'
import { closingOf, type Fitted, newMessages, textCounter, tokensOf } from './compact-fit.ts'
import { type CompactionParts, piecesOf } from './compact-parts.ts'
import { enter, isSaid, mayGoOn, type Run, runHooks } from './compact-run.ts'

export type ArrangeInput = {
  readonly parts: CompactionParts
  readonly kept: readonly ViewMessage[]
  readonly fitted: Fitted
  /** Tokens of the whole new context. */
  readonly most: number
}

export type Arranged = {
  readonly attachments: readonly AttachmentFacts[]
  readonly closing: string | undefined
  readonly messages: readonly ViewMessage[]
  readonly tokens: number
  readonly restored: Restoration
}

export async function arrangeContext(run: Run, at: ArrangeInput): Promise<Arranged> {
  enter(run, 'restoring')
  const restored = await restoredWithin(run, at)
  mayGoOn(run)
  const { context } = await runHooks(run, { event: 'SessionStart', source: 'compact' })
  mayGoOn(run)
  const arranged = fitting(run, at, { restored, context: context.filter(isSaid) })
  for (const { path, tokens } of arranged.restored.pieces) {
    if (path !== undefined) run.ports.emit({ type: 'file-restored', path, tokens })
  }
  for (const { what, why } of arranged.restored.notRestored) {
    run.ports.emit({ type: 'file-not-restored', path: what, reason: why })
  }
  return arranged
}

/**
 * Where a budget was asked for, what only restoring brings has its room before the summary fills the rest, and so has
 * the latest request that comes behind it. The code that matters stands in the summary then, in pieces.
 */
export async function reservedTokens(run: Run, { parts, kept, most }: Omit<ArrangeInput, 'fitted'>): Promise<number> {
  const { input, settings } = run
  if (!input.restore || input.budget === undefined) return 0
  const share = Math.floor(most / 4)
  const { pieces } = await input.restore({
    kept,
    removed: parts.summarised,
    budget: Math.min(settings.restoreTokens, share),
    countTokens: textCounter(input.counting),
    without: toldInSummary(run),
  })
  const wanted = pieces.filter(({ kind }) => kind !== 'files')
  if (wanted.length === 0) return 0
  const sizeWith = (rest: readonly ViewMessage[]) =>
    tokensOf(newMessages(parts, { kept, summary: '', rest }), input.counting)
  const tokens = sizeWith([...wanted.map(attachmentOf).map(asSeen), ...closingMessages(input)]) - sizeWith([])
  return tokens <= share ? tokens : 0
}

/** A summary that fills its budget holds the to-do list: a second one would take the room of something else. */
function toldInSummary({ input }: Run): readonly string[] {
  return input.budget === undefined ? [] : ['todos']
}

function latestRequest({ view }: Run['input']): string | undefined {
  return closingOf(piecesOf(view))
}

function closingMessages(input: Run['input']): readonly ViewMessage[] {
  const closing = latestRequest(input)
  return closing === undefined ? [] : [asSummary(closing)]
}

async function restoredWithin(run: Run, { parts, kept, fitted, most }: ArrangeInput) {
  const { input, settings } = run
  const used = tokensOf(newMessages(parts, { kept, summary: fitted.summary, rest: [] }), input.counting)
  const left = most - used - (input.budget === undefined ? 0 : tokensOf(closingMessages(input), input.counting))
  const budget = Math.min(settings.restoreTokens, left)
  if (!input.restore || budget <= 0) return nothingRestored
  return input.restore({
    kept,
    removed: parts.summarised,
    budget,
    countTokens: textCounter(input.counting),
    without: toldInSummary(run),
  })
}

type Behind = { readonly restored: Restoration; readonly context: readonly string[] }

/** Where it is too much, the names of what is missing go first, then the last of the restored pieces. */
function fitting(run: Run, at: ArrangeInput, behind: Behind): Arranged {
  for (let count = behind.restored.pieces.length; ; count--) {
    for (const isMissingNamed of count === 0 ? [false] : [true, false]) {
      const arranged = arrangedWith(run, at, { ...behind, count, isMissingNamed })
      if (arranged.tokens <= at.most || (count === 0 && !isMissingNamed)) return arranged
    }
  }
}

type Shown = Behind & { readonly count: number; readonly isMissingNamed: boolean }

function arrangedWith({ input }: Run, at: ArrangeInput, { restored, context, count, isMissingNamed }: Shown): Arranged {
  const pieces = restored.pieces.slice(0, count)
  const left = restored.pieces.slice(count).map(({ kind, title, path }) => ({
    kind,
    what: path ?? title,
    why: 'it does not fit any more',
  }))
  const notRestored = [...restored.notRestored, ...left]
  const named = isMissingNamed ? namesOf(notRestored) : []
  const attachments = [...pieces.map(attachmentOf), ...named, ...context.map(hookAttachment)]
  const closing = attachments.length === 0 ? undefined : latestRequest(input)
  const rest = [...attachments.map(asSeen), ...(closing === undefined ? [] : [asSummary(closing)])]
  const messages = newMessages(at.parts, { kept: at.kept, summary: at.fitted.summary, rest })
  const now = { pieces, notRestored, tokens: sum(pieces) }
  return { attachments, closing, messages, tokens: tokensOf(messages, input.counting), restored: now }
}

function sum(pieces: readonly Piece[]): number {
  return pieces.reduce((total, { tokens }) => total + tokens, 0)
}

function namesOf(notRestored: Restoration['notRestored']): readonly AttachmentFacts[] {
  const content = missingText(notRestored)
  return content === undefined ? [] : [{ type: 'not_restored', content, isRestored: true }]
}

function attachmentOf(piece: Piece): AttachmentFacts {
  const { kind, path, entry, state } = piece
  return {
    type: kind,
    content: pieceText(piece),
    isRestored: true,
    ...(path === undefined ? {} : { filename: path }),
    ...(entry === undefined ? {} : { entry }),
    ...(state === undefined ? {} : { state }),
  }
}

function hookAttachment(content: string): AttachmentFacts {
  return { type: 'hook_additional_context', content, hookEvent: 'SessionStart', hookName: 'SessionStart:compact' }
}

function asSeen({ type, content }: AttachmentFacts): ViewMessage {
  return { role: 'user', content, origin: 'attachment', attachment: type }
}

function asSummary(content: string): ViewMessage {
  return { role: 'user', content, origin: 'summary' }
}
