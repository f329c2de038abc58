// What a mechanism gets when it runs: the view, sizes and limits, and ports that count every request to a model.
import type { CompactionCause, CompactRange, MechanismContext } from '../mechanisms/mechanism.ts'
import { defined } from '../message/json.ts'
import type { Trigger } from '../ports/hooks.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { ModelChoice } from '../session/gauge.ts'
import type { Runtime } from '../session/runtime.ts'
import { buildRequest } from '../session/turn-request.ts'
import { metered } from '../session/usage.ts'
import type { View } from '../transcript/view/fold.ts'
import { earlyTarget } from './economy.ts'

export type CompactionOptions = {
  readonly cause: CompactionCause
  readonly instructions?: string | undefined
  readonly range?: CompactRange | undefined
  /** The model whose window the context must fit, if that is not the one that summarizes. */
  readonly fits?: ModelChoice | undefined
  readonly signal?: AbortSignalPort | undefined
}

const noCommit: MechanismContext['commit'] = async () => ({ type: 'failed', message: 'No compaction was requested.' })

/** What a mechanism gets. Without `commit` it cannot compact. */
export function contextFor(runtime: Runtime, options: CompactionOptions, commit = noCommit): MechanismContext {
  const { conversation, gauge, tracker } = runtime
  const { cause, instructions = '', range = {}, fits, signal } = options
  const view = conversation.view()
  const situation = gauge.situation(view, fits)
  const { size, autoCompactThreshold } = situation.explanation
  return {
    view,
    situation,
    queued: conversation.queued(),
    trigger: triggerOf(cause),
    cause,
    instructions,
    range,
    target: targetOf(runtime, options, view),
    size,
    overhead: gauge.overhead(fits?.name),
    counting: gauge.counting(fits?.name),
    turnId: tracker.now().turnId,
    request: () => buildRequest(runtime, view).request,
    chain: tracker.chain(autoCompactThreshold.value),
    place: conversation.place(),
    record: conversation.record,
    commit,
    restore: runtime.restore,
    ports: summarizerPorts(runtime),
    signal,
  }
}

/** What the size must get below: a share of the threshold, or of the size if the compaction comes before the threshold. */
export function targetOf({ gauge }: Runtime, { cause, fits }: CompactionOptions, view: View): number {
  const situation = gauge.situation(view, fits)
  return cause === 'economy' ? earlyTarget(view, situation, gauge.overhead()) : situation.target
}

export function triggerOf(cause: CompactionCause): Trigger {
  return cause === 'person' ? 'manual' : 'auto'
}

/** The session's ports with a model client that is metered and knows the window as the session does. */
function summarizerPorts({ gauge, ports, usage }: Runtime): CompactionPorts {
  const { client, name } = gauge.model()
  return {
    ...ports,
    model: {
      ...metered(client, usage, name),
      capabilities: (model) => {
        const known = client.capabilities(model)
        const window = model === name ? gauge.window() : (gauge.limit(client, model) ?? known.window)
        return { ...known, ...defined({ window }) }
      },
    },
    // A limit that the summarizer met is learned here, which emits the event under the session's name.
    emit: (event) => (event.type === 'limit-learned' ? gauge.learnLimit(event) : ports.emit(event)),
  }
}
