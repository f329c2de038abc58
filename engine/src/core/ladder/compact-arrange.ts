// What stands behind the summary in the new context: restored pieces, what hooks said, the latest request. Restored
// pieces that do not fit are left out and named; restoring never fails a compaction.
import type { ViewMessage } from '../message/message.ts'
import { nothingRestored, type Restoration, type RestoredPiece } from '../ports/restore.ts'
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
 * Where a budget was asked for, what is put back beside files has its room before the summary fills the rest: the code
 * that matters stands in the summary then, in pieces.
 */
export async function reservedTokens(
  { input, settings }: Run,
  { parts, kept, most }: Omit<ArrangeInput, 'fitted'>,
): Promise<number> {
  if (!input.restore || input.budget === undefined) return 0
  const budget = Math.min(settings.restoreTokens, Math.floor(most / 4))
  const countTokens = textCounter(input.counting)
  const { pieces } = await input.restore({ kept, removed: parts.summarised, budget, countTokens })
  return sum(pieces.filter(({ kind }) => kind !== 'files'))
}

async function restoredWithin({ input, settings }: Run, { parts, kept, fitted, most }: ArrangeInput) {
  const used = tokensOf(newMessages(parts, { kept, summary: fitted.summary, rest: [] }), input.counting)
  const budget = Math.min(settings.restoreTokens, most - used)
  if (!input.restore || budget <= 0) return nothingRestored
  return input.restore({ kept, removed: parts.summarised, budget, countTokens: textCounter(input.counting) })
}

/** The last of the restored pieces go first. */
function fitting(
  run: Run,
  at: ArrangeInput,
  { restored, context }: { readonly restored: Restoration; readonly context: readonly string[] },
): Arranged {
  const { input } = run
  const all = piecesOf(input.view)
  for (let count = restored.pieces.length; ; count--) {
    const pieces = restored.pieces.slice(0, count)
    const left = restored.pieces.slice(count).map(({ kind, title, path }) => ({
      kind,
      what: path ?? title,
      why: 'it does not fit any more',
    }))
    const notRestored = [...restored.notRestored, ...left]
    const attachments = [...pieces.map(attachmentOf), ...namesOf(notRestored, count), ...context.map(hookAttachment)]
    const closing = attachments.length === 0 ? undefined : closingOf(all)
    const rest = [...attachments.map(asSeen), ...(closing === undefined ? [] : [asSummary(closing)])]
    const messages = newMessages(at.parts, { kept: at.kept, summary: at.fitted.summary, rest })
    const tokens = tokensOf(messages, input.counting)
    if (tokens > at.most && count > 0) continue
    const now = { pieces, notRestored, tokens: sum(pieces) }
    return { attachments, closing, messages, tokens, restored: now }
  }
}

function sum(pieces: readonly RestoredPiece[]): number {
  return pieces.reduce((total, { tokens }) => total + tokens, 0)
}

const mostNames = 12

/** What was not brought is named, so that nobody believes to have seen it; not where even that finds no room. */
function namesOf(notRestored: Restoration['notRestored'], count: number): readonly AttachmentFacts[] {
  if (notRestored.length === 0 || count === 0) return []
  const names = notRestored.slice(0, mostNames).map(({ what, why }) => `- ${what}: ${why}`)
  return [{ type: 'not_restored', content: `Not put back:\n${names.join('\n')}`, isRestored: true }]
}

function attachmentOf({ kind, title, text, path, entry }: RestoredPiece): AttachmentFacts {
  return {
    type: kind,
    content: `${title}\n${text}`,
    isRestored: true,
    ...(path === undefined ? {} : { filename: path }),
    ...(entry === undefined ? {} : { entry }),
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
