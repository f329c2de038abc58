// Clears old tool results from the context between turns, as `context_edit` entries: the session keeps the originals, and
// going back in pi's tree brings them back. The engine decides whether it is worth a broken prompt cache.

import { blocksOf, editRecord, isText, isToolResult, stringAt } from 'everlong/internal'
import { compactionOff, situationOf } from 'everlong/internal/compaction'
import { type Edit, microBySize } from 'everlong/mechanisms'
import { cacheLifetime } from './cached-prompt.ts'
import type { CompactionSettings, Context, ContextEditDraft, Model } from './pi-api.ts'
import { openBranch, thresholdOf } from './session.ts'

/** `auto`: near the threshold, and only where it pays. */
export type MicroMode = 'off' | 'auto' | 'always'

export type MicroInput = {
  readonly context: Context
  readonly model: Model
  readonly settings: CompactionSettings
  readonly mode: MicroMode
  /** Keeps the id with which the recall tool finds the original. */
  readonly recall: boolean
  readonly now: number
}

export function microMode(environment: { readonly [name: string]: string | undefined }): MicroMode {
  const asked = environment.EVERLONG_MICRO
  if (asked === 'off' || compactionOff({ environment }) !== undefined) return 'off'
  return asked === 'always' ? 'always' : 'auto'
}

/** Nothing further away from the threshold is ever cleared, so most turns need not be looked at. */
const warningDistance = 20_000

export function clearingEdits(input: MicroInput): readonly ContextEditDraft[] {
  const { context, model, mode, settings } = input
  const tokens = context.getContextUsage()?.tokens ?? 0
  const threshold = thresholdOf(model.contextWindow, settings)
  if (mode === 'off' || (mode === 'auto' && tokens < threshold - warningDistance)) return []
  const session = openBranch(context)
  const view = session.view
  const plan = microBySize.plan(
    view,
    situationOf(view, {
      now: input.now,
      cacheLifetime: cacheLifetime(process.env),
      model: model.id,
      settings: {
        contextWindow: model.contextWindow,
        autoCompactAt: threshold,
        compaction: settings.enabled ? 'auto' : 'manual',
      },
      reductions: {
        microCompact: mode === 'always' ? 'always' : 'above-warning',
        recall: input.recall,
        // pi cannot be told to leave out thinking.
        boundThinking: 'decline',
      },
    }),
  )
  if (plan.type !== 'reduced') return []
  return draftsOf(session.fold, plan.edits)
}

/** The edited form of each tool result, read from the view with the edits. */
function draftsOf(fold: ReturnType<typeof openBranch>['fold'], edits: readonly Edit[]): readonly ContextEditDraft[] {
  const before = new Set(fold.view().sources.flatMap(({ pieces }) => pieces))
  const place = { parentUuid: null, timestamp: '', sessionId: '' }
  for (const [at, edit] of edits.entries()) {
    const record = editRecord(edit, { ...place, uuid: `planned-${at}` })
    fold.add({ record, position: { line: 0, offset: 0, length: 0, nth: 0 } })
  }
  return fold
    .view()
    .sources.flatMap(({ pieces }) => pieces)
    .filter((piece) => !before.has(piece))
    .flatMap(({ uuid, content }): readonly ContextEditDraft[] => {
      const result = blocksOf(content).find(isToolResult)
      if (uuid === undefined || !result) return []
      return [{ type: 'context_edit', targetId: uuid, replacement: { content: [textBlock(result.content)] } }]
    })
}

function textBlock(content: unknown): { readonly type: 'text'; readonly text: string } {
  const text =
    typeof content === 'string'
      ? content
      : blocksOf(content)
          .flatMap((block) => (isText(block) ? [block.text] : []))
          .join('\n')
  return { type: 'text', text: text === '' ? (stringAt(content, 'text') ?? '[cleared]') : text }
}
