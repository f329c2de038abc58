// Collapse in a session: finished spans are summarised in the background, one at a time, and wait until the context is
// nearly full; then they take their places. A span that was expanded again by an undo is not collapsed a second time.
import { costOf } from '../cache/prices.ts'
import { runPlan } from '../ladder/run-mechanism.ts'
import { collapse, collapseState, type Staged, waitAt } from '../mechanisms/collapse/collapse.ts'
import { finishedSpans, type Span } from '../mechanisms/collapse/spans.ts'
import { type Staging, stageCollapse } from '../mechanisms/collapse/stage.ts'
import type { MechanismContext, RunningMechanism } from '../mechanisms/mechanism.ts'
import { noTokens, totalOf } from '../message/usage.ts'
import type { Explanation } from '../tokens/explain.ts'
import type { Beside } from './beside.ts'

/** Of the effective window: below it no span is worth a request yet. */
export const stageFrom = 0.5

/** After so many failures in a row nothing more is staged until a compaction. */
const mostFailures = 3

export type Collapser = {
  /** Begins to stage the oldest finished span, if there is none under way. It is not waited for. */
  readonly look: (beside: Beside) => void
  readonly staged: () => readonly Staged[]
  readonly idle: () => Promise<void>
  /** The spans are out of the view: what was staged for them has no place any more. */
  readonly clear: () => void
  /** Before each request, in front of all other rungs: declines until the context is nearly full. */
  readonly rung: RunningMechanism
}

export function createCollapser(): Collapser {
  return new Stager()
}

class Stager implements Collapser {
  private waiting: readonly Staged[] = []
  private running: Promise<void> | undefined
  /** First entries of spans that have been tried: each is staged once, whatever becomes of it. */
  private readonly seen = new Set<string>()
  private failures = 0
  private beside: Beside | undefined

  staged = (): readonly Staged[] => this.waiting
  idle = async (): Promise<void> => {
    while (this.running) await this.running
  }

  clear = (): void => {
    this.waiting = []
    this.seen.clear()
    this.failures = 0
  }

  look = (beside: Beside): void => {
    this.beside = beside
    if (this.running || beside.signal.aborted || this.failures >= mostFailures) return
    if (beside.tokens() < beside.effectiveWindow() * stageFrom) return
    const span = finishedSpans(beside.view(), beside.weigher()).find(({ from }) => !this.seen.has(from))
    if (!span) return
    this.seen.add(span.from)
    this.running = this.stage(beside, span).finally(() => {
      this.running = undefined
      this.look(beside)
    })
  }

  readonly rung: RunningMechanism = {
    name: 'collapse',
    run: async (context) => {
      await this.enough(context)
      const { waiting } = this
      const result = runPlan(collapse(waiting), context)
      if (result.type === 'reduced') this.waiting = this.waiting.filter((one) => !waiting.includes(one))
      return result
    },
  }

  /** At the limit a request waits for one span after another, until those that are staged make enough room. */
  private async enough({ view, situation }: MechanismContext): Promise<void> {
    const { explanation } = situation
    const { size, effectiveWindow, blocking } = explanation
    if (!isFull(explanation)) return
    const most = Math.min(effectiveWindow.value * waitAt, blocking.value)
    const isEnough = () => {
      const plan = collapse(this.waiting).plan(view, situation)
      return plan.type === 'planned' && size.tokens - plan.freed < most
    }
    if (this.beside) this.look(this.beside)
    while (this.running && !isEnough()) await this.running
  }

  private async stage(beside: Beside, span: Span): Promise<void> {
    const { signal, countTokens, emit } = beside
    const model = beside.model()
    const staging = await attempt({ span, model: beside.client(), modelName: model, countTokens, signal })
    const { usage } = staging
    if (totalOf(usage) > 0) beside.spend('collapse', usage)
    if (signal.aborted) return
    if (staging.type === 'failed') {
      this.failures++
      emit({ type: 'collapse-failed', reason: staging.reason, usage })
      return
    }
    this.failures = 0
    // A compaction may have come meanwhile.
    if (!this.seen.has(span.from)) return
    this.waiting = [...this.waiting, staging.staged]
    const cost = totalOf(usage) === 0 ? undefined : costOf(usage, model)
    emit({ type: 'collapse-staged', tokens: span.tokens, usage, ...(cost === undefined ? {} : { cost }) })
  }
}

/** In a small window the blocking limit comes before the share at which a request waits. */
function isFull(explanation: Explanation): boolean {
  return collapseState(explanation) === 'wait' || explanation.isBlocking
}

/** A client that throws has failed like one that says so: nobody waits for this promise. */
async function attempt(input: Parameters<typeof stageCollapse>[0]): Promise<Staging> {
  try {
    return await stageCollapse(input)
  } catch (error) {
    return { type: 'failed', reason: error instanceof Error ? error.message : String(error), usage: noTokens }
  }
}
