// Collapse: summarizes finished spans in the background, one at a time (stage.ts), and uses the summaries when the context is
// nearly full. Undoing a collapse expands the span again, and it is not collapsed a second time.

import { costOf } from '../cache/economics.ts'
import type { Weigher } from '../mechanisms/measure.ts'
import type { MechanismContext, PlanningMechanism, RunningMechanism } from '../mechanisms/mechanism.ts'
import { partsOf, planRanges, replacementOf } from '../mechanisms/ranges.ts'
import { turnsOf } from '../message/cut-points.ts'
import { defined, errorText } from '../message/json.ts'
import { blocksOf, isRequest, isToolUse } from '../message/message.ts'
import { noTokens } from '../message/usage.ts'
import { declined } from '../ports/outcome.ts'
import { type BackgroundWorker, type Runtime, summarizer } from '../session/runtime.ts'
import { compactionOff } from '../settings/resolve.ts'
import { createTextCounter } from '../tokens/estimate/counting.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import type { FinishedSpan, Staged, Staging } from './stage.ts'

/**
 * Shares of the effective window. From the first on, staged summaries are used; from the second on, the next request waits for
 * one.
 */
export const commitAt = 0.9
export const waitAt = 0.95

export function collapseState({ size, effectiveWindow }: Explanation): 'idle' | 'commit' | 'wait' {
  const share = size.tokens / effectiveWindow.value
  return share >= waitAt ? 'wait' : share >= commitAt ? 'commit' : 'idle'
}

export function collapse(staged: readonly Staged[]): PlanningMechanism {
  const name = 'collapse'
  return {
    name,
    plan: (view, situation) => {
      const { explanation } = situation
      if (collapseState(explanation) === 'idle') {
        const at = formatNumber(Math.ceil(explanation.effectiveWindow.value * commitAt))
        const detail = `${formatNumber(explanation.size.tokens)} tokens; staged summaries are used from ${at} on.`
        return declined('below-commit', detail)
      }
      const parts = partsOf(view)
      const replacements = staged.flatMap(({ from, to, text }) => {
        const start = parts.findIndex(({ uuid }) => uuid === from)
        const own = start < 0 ? [] : parts.slice(start, parts.findIndex(({ uuid }) => uuid === to) + 1)
        // The span has left the view or changed, or part of it was pinned.
        if (own.length === 0 || own.some(({ isPinned }) => isPinned)) return []
        return replacementOf(view, situation, { parts: own, text: () => text, why: 'a finished span' })
      })
      if (replacements.length === 0) return declined('nothing-to-do', 'No staged summary is smaller than its span.')
      return planRanges(view, situation, {
        mechanism: name,
        why: 'finished spans have summaries of their own',
        parts,
        replacements,
        editOf: (range) => ({ type: 'replace-range', ...range, mechanism: name }),
      })
    },
  }
}

const minSpanTokens = 2_000

/** Oldest first, without spans that contain a pinned entry or a summary. The newest span is not finished. */
export function finishedSpans(
  view: View,
  weigher: Weigher,
  minTokens: number = minSpanTokens,
): readonly FinishedSpan[] {
  const parts = partsOf(view)
  const turns = turnsOf(parts, ({ origin }) => isRequest(origin)).slice(0, -1)
  return turns.flatMap(({ start, end }): readonly FinishedSpan[] => {
    const own = parts.slice(start, end)
    const [first, last] = [own[0], own.at(-1)]
    if (first?.uuid === undefined || last?.uuid === undefined) return []
    const isPlain = own.every(({ isPinned, origin }) => !isPinned && origin !== 'summary')
    const isAlone = parts[start - 1]?.at !== first.at && parts[end]?.at !== last.at
    if (!isRequest(first.origin) || last.role !== 'assistant' || !isPlain || !isAlone) return []
    const tokens = own.reduce((sum, { piece }) => sum + weigher.message(piece), 0)
    return tokens < minTokens ? [] : [{ from: first.uuid, to: last.uuid, parts: own, tokens: Math.round(tokens) }]
  })
}

/** Share of the effective window. Below it, no summary is worth a request. */
const stageFrom = 0.5

/** After this many failures in a row, staging stops until the next compaction. */
const maxFailures = 3

export class Collapser implements BackgroundWorker {
  private waiting: readonly Staged[] = []
  private running: Promise<void> | undefined
  /** First entries of the spans that were tried. Each span is staged once, even if that failed. */
  private readonly seen = new Set<string>()
  private failures = 0
  private runtime: Runtime | undefined

  staged = (): readonly Staged[] => this.waiting
  idle = async (): Promise<void> => {
    while (this.running) await this.running
  }

  /** Forgets the spans, because they are no longer in the view. */
  afterCompaction(): void {
    this.waiting = []
    this.seen.clear()
    this.failures = 0
  }

  afterAnswer(runtime: Runtime): void {
    const calls = blocksOf(runtime.conversation.view().messages.at(-1)?.content).some(isToolUse)
    if (!calls && compactionOff(runtime) === undefined) this.stageNext(runtime)
  }

  /** Runs first before each request. Declines until the context is nearly full. */
  readonly mechanism: RunningMechanism = {
    name: 'collapse',
    run: async (context) => {
      await this.waitForRoom(context)
      const { waiting } = this
      const result = collapse(waiting).plan(context.view, context.situation)
      if (result.type === 'reduced') this.waiting = this.waiting.filter((one) => !waiting.includes(one))
      return result
    },
  }

  /** Stages the oldest finished span, then the next, unless one is being staged. */
  private stageNext(runtime: Runtime): void {
    this.runtime = runtime
    const { conversation, gauge, closing } = runtime
    if (this.running || closing.signal.aborted || this.failures >= maxFailures) return
    const { size, effectiveWindow } = gauge.explanation()
    if (size.tokens < effectiveWindow.value * stageFrom) return
    const span = finishedSpans(conversation.view(), gauge.weigher()).find(({ from }) => !this.seen.has(from))
    if (!span) return
    this.seen.add(span.from)
    this.running = this.stage(runtime, span).finally(() => {
      this.running = undefined
      this.stageNext(runtime)
    })
  }

  /** At the limit, waits for one span after another until the staged summaries free enough. */
  private async waitForRoom({ view, situation }: MechanismContext): Promise<void> {
    const { explanation } = situation
    const { size, effectiveWindow, blocking, isBlocking } = explanation
    // In a small window, the blocking limit comes before the share at which a request waits.
    if (collapseState(explanation) !== 'wait' && !isBlocking) return
    const maxTokens = Math.min(effectiveWindow.value * waitAt, blocking.value)
    const isEnough = () => {
      const plan = collapse(this.waiting).plan(view, situation)
      return plan.type !== 'declined' && size.tokens - plan.freed < maxTokens
    }
    if (this.runtime) this.stageNext(this.runtime)
    while (this.running && !isEnough()) await this.running
  }

  private async stage(runtime: Runtime, span: FinishedSpan): Promise<void> {
    const { gauge, ports, closing } = runtime
    const { signal } = closing
    const { name: model } = gauge.model()
    const countTokens = createTextCounter(gauge.counting())
    // Nothing awaits this promise, so a client that throws counts as a failure.
    const staging = await import('../session/summarize.ts')
      .then(({ stageCollapse }) =>
        stageCollapse({ span, client: summarizer(runtime), model, countTokens, redact: ports.redact, signal }),
      )
      .catch((error: unknown): Staging => ({ type: 'failed', reason: errorText(error), usage: noTokens }))
    const { usage } = staging
    if (signal.aborted) return
    if (staging.type === 'failed') {
      this.failures++
      ports.emit({ type: 'collapse-failed', reason: staging.reason, usage })
      return
    }
    this.failures = 0
    // A compaction may have removed the span meanwhile.
    if (!this.seen.has(span.from)) return
    this.waiting = [...this.waiting, staging.staged]
    ports.emit({
      type: 'collapse-staged',
      tokens: span.tokens,
      usage,
      ...defined({ cost: costOf(usage, model) }),
    })
  }
}
