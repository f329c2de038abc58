// The records that a compaction appends to the transcript, and the figures that stand in its boundary.

import type { Ledger } from '../ledger/facts.ts'
import { toJson } from '../ledger/json.ts'
import type { JsonObject } from '../message/json.ts'
import type { Tried } from '../ports/events.ts'
import type { FidelityReport } from '../ports/fidelity.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { type CompactionRecords, compactionRecords } from '../transcript/format/compaction-records.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { Assembled } from './assemble.ts'
import type { History } from './history.ts'
import type { Compacted, CompactionJob } from './job.ts'
import type { Planned } from './plan.ts'
import type { ProviderSummary } from './provider-summary.ts'

/** What the boundary says about how the compaction went. */
export type Figures = Pick<
  Compacted,
  'tokens' | 'size' | 'mechanism' | 'model' | 'usage' | 'cost' | 'hitRate' | 'chain' | 'durationMs' | 'composition'
>

export type RecordsInput = {
  readonly job: CompactionJob
  readonly plan: Planned
  readonly history: History
  readonly instructions: string
  readonly ledger: Ledger
  readonly assembled: Assembled
  readonly served: ProviderSummary | undefined
  readonly report: FidelityReport
  readonly figures: Figures
  readonly tried: readonly Tried[]
}

export function recordsOf(
  input: RecordsInput,
  { newId, now }: Pick<CompactionPorts, 'newId' | 'now'>,
): CompactionRecords {
  const { job, plan, history, assembled, served, figures } = input
  const { parts } = plan
  const { size, chain, durationMs, ...rest } = figures
  const removeThinking: Edit = { type: 'clear-thinking', mechanism: 'partial', reason: 'bound to what was summarized' }
  const everlong: JsonObject = {
    ...rest,
    reason: job.reason,
    // What comes behind kept messages is counted with the messages, so only what was taken from before them is freed.
    freed: plan.tokens.before - assembled.frontTokens,
    chain: { ...chain, ...(job.turnId === undefined ? {} : { turnId: job.turnId }) },
    fidelity: input.report,
    tried: input.tried,
    ledger: toJson(input.ledger),
  }
  return compactionRecords(
    {
      facts: {
        trigger: job.trigger,
        preTokens: size.before,
        postTokens: size.after,
        durationMs,
        messagesSummarized: parts.summarized.length,
        cumulativeDroppedTokens: history.dropped + Math.max(0, size.before - size.after),
        discoveredTools: history.discoveredTools,
        userContext: input.instructions,
        everlong,
      },
      summary: assembled.summary,
      ...(served ? { served } : {}),
      kept:
        parts.keptUuids.length === 0
          ? undefined
          : { uuids: parts.keptUuids, place: parts.variant === 'from' ? 'before' : 'after' },
      attachments: assembled.attachments,
      closing: assembled.closing,
      edits: parts.removesThinking ? [removeThinking] : [],
    },
    {
      newId,
      timestamp: new Date(now()).toISOString(),
      sessionId: job.sessionId,
      logicalParent: job.lastUuid ?? job.view.sources.at(-1)?.uuids.at(-1),
      envelope: job.envelope,
    },
  )
}
