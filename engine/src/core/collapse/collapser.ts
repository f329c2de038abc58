// Collapse in a session: summarizes finished spans in the background, one at a time, and puts the summaries in their place
// when the context is nearly full. A span that an undo expanded again is not collapsed a second time.
import { costOf } from '../cache/economics.ts'
import type { MechanismContext, RunningMechanism } from '../mechanisms/mechanism.ts'
import { blocksOf, isToolUse } from '../message/block.ts'
import { defined } from '../message/json.ts'
import { noTokens } from '../message/usage.ts'
import { errorText } from '../ports/guarded.ts'
import { loadCompaction } from '../session/load-compaction.ts'
import { type BackgroundWorker, type Runtime, summarizer } from '../session/runtime.ts'
import { compactionOff } from '../settings/resolve.ts'
import { createTextCounter } from '../tokens/estimate/counting.ts'
import { collapse, collapseState, finishedSpans, type Span, type Staged, waitAt } from './collapse.ts'
import type { Staging } from './stage.ts'

/** Of the effective window: below it no summary is worth a request yet. */
const stageFrom = 0.5

/** After this many failures in a row nothing is staged until the next compaction. */
const mostFailures = 3

export class Collapser implements BackgroundWorker {
  private waiting: readonly Staged[] = []
  private running: Promise<void> | undefined
  /** First entries of spans that were tried: each is staged once, even if that failed. */
  private readonly seen = new Set<string>()
  private failures = 0
  private runtime: Runtime | undefined

  staged = (): readonly Staged[] => this.waiting
  idle = async (): Promise<void> => {
    while (this.running) await this.running
  }

  /** The spans are out of the view. */
  afterCompaction(): void {
    this.waiting = []
    this.seen.clear()
    this.failures = 0
  }

  afterAnswer(runtime: Runtime): void {
    const calls = blocksOf(runtime.conversation.view().messages.at(-1)?.content).some(isToolUse)
    if (!calls && compactionOff(runtime) === undefined) this.look(runtime)
  }

  /** Tried before each request, first of all. Declines until the context is nearly full. */
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

  /** Stages the oldest finished span unless one is being staged, then the next. */
  private look(runtime: Runtime): void {
    this.runtime = runtime
    const { conversation, gauge, closing } = runtime
    if (this.running || closing.signal.aborted || this.failures >= mostFailures) return
    const { size, effectiveWindow } = gauge.explanation()
    if (size.tokens < effectiveWindow.value * stageFrom) return
    const span = finishedSpans(conversation.view(), gauge.weigher()).find(({ from }) => !this.seen.has(from))
    if (!span) return
    this.seen.add(span.from)
    this.running = this.stage(runtime, span).finally(() => {
      this.running = undefined
      this.look(runtime)
    })
  }

  /** At the limit a request waits for one span after another, until the staged summaries make enough room. */
  private async waitForRoom({ view, situation }: MechanismContext): Promise<void> {
    const { explanation } = situation
    const { size, effectiveWindow, blocking, isBlocking } = explanation
    // In a small window the blocking limit comes before the share at which a request waits.
    if (collapseState(explanation) !== 'wait' && !isBlocking) return
    const most = Math.min(effectiveWindow.value * waitAt, blocking.value)
    const isEnough = () => {
      const plan = collapse(this.waiting).plan(view, situation)
      return plan.type !== 'declined' && size.tokens - plan.freed < most
    }
    if (this.runtime) this.look(this.runtime)
    while (this.running && !isEnough()) await this.running
  }

  private async stage(runtime: Runtime, span: Span): Promise<void> {
    const { gauge, ports, closing } = runtime
    const { signal } = closing
    const { name: model } = gauge.model()
    const countTokens = createTextCounter(gauge.counting())
    // A client that throws has failed: nobody waits for this promise.
    const staging = await loadCompaction()
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
