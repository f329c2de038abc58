// The records that a compaction appends to the transcript, and the figures in its boundary. A summary that the provider
// itself wrote is stored with its block, which may only be sent back unchanged and to the model that signed it.
import { costOf } from '../cache/economics.ts'
import type { Ledger } from '../ledger/facts.ts'
import { toJson } from '../ledger/json.ts'
import { defined, type JsonObject } from '../message/json.ts'
import { totalOf } from '../message/usage.ts'
import type { ModelClient } from '../ports/model.ts'
import type { ProviderSummary } from '../request/provider-summary.ts'
import { type CompactionRecords, compactionRecords } from '../transcript/format/compaction-records.ts'
import type { Summary } from './ask/ask.ts'
import type { Assembled } from './assemble.ts'
import type { Page } from './compose.ts'
import type { Run } from './history.ts'
import type { Compacted } from './job.ts'

/** Where the summary came from; without text it is to be written by code. */
export type Written = Partial<Omit<Summary, 'type' | 'text'>> & {
  readonly type: 'written'
  readonly mechanism: string
  readonly text: string | undefined
}

/** Everything of a compaction before it is written. */
export type Made = {
  readonly written: Written
  readonly instructions: string
  readonly ledger: Ledger
  readonly page: Page
  readonly assembled: Assembled
}

type Figures = Pick<
  Compacted,
  | 'tokens'
  | 'size'
  | 'mechanism'
  | 'model'
  | 'usage'
  | 'cost'
  | 'hitRate'
  | 'attempts'
  | 'chain'
  | 'durationMs'
  | 'composition'
>

export function figuresOf({ job, plan, ports, usage, hitRate, attempts, history, started }: Run, made: Made): Figures {
  const { written, page, assembled } = made
  const { before, size } = plan.tokens
  return {
    tokens: { before, after: assembled.tokens },
    size: { before: size, after: job.scale.toReported(assembled.tokens + (job.overhead ?? 0)) },
    mechanism: page.isOffline ? 'offline' : written.mechanism,
    usage,
    ...defined({
      // A summary that would not fit was given up; then the model wrote nothing of what is there now.
      model: page.isOffline ? undefined : written.model,
      cost: totalOf(usage) === 0 ? undefined : costOf(usage, written.model ?? plan.model),
      hitRate,
    }),
    attempts,
    chain: history.chain,
    durationMs: Math.max(0, ports.now() - started),
    composition: { ...page.composition, restored: assembled.restored.tokens },
  }
}

export function recordsOf(run: Run, made: Made, figures: Figures): CompactionRecords {
  const { job, plan, history, ports, tried } = run
  const { assembled, page } = made
  const { summarized, keptUuids, variant, removesThinking } = plan.parts
  const { size, chain, durationMs, ...rest } = figures
  const everlong: JsonObject = {
    ...rest,
    size: { after: size.after, ...defined({ model: job.counting?.model }) },
    reason: job.reason,
    // What comes behind kept messages is counted with the messages, so only what was taken from before them is freed.
    freed: plan.tokens.before - assembled.frontTokens,
    chain: { ...chain, ...defined({ turnId: job.turnId }) },
    turns: history.turns,
    fidelity: page.report,
    tried,
    ledger: toJson(made.ledger),
    ...(variant === 'from' ? { ledgerHasKept: true } : {}),
  }
  return compactionRecords(
    {
      facts: {
        trigger: job.trigger,
        preTokens: size.before,
        postTokens: size.after,
        durationMs,
        messagesSummarized: summarized.length,
        cumulativeDroppedTokens: history.dropped + Math.max(0, size.before - size.after),
        discoveredTools: history.discoveredTools,
        userContext: made.instructions,
        everlong,
      },
      summary: assembled.summary,
      ...defined({ served: providerSummaryOf(made, ports.model) }),
      kept: keptUuids.length === 0 ? undefined : { uuids: keptUuids, place: variant === 'from' ? 'before' : 'after' },
      attachments: assembled.attachments,
      closing: assembled.closing,
      edits: removesThinking
        ? [{ type: 'clear-thinking', mechanism: 'partial', reason: 'bound to what was summarized' }]
        : [],
    },
    {
      newId: ports.newId,
      timestamp: new Date(ports.now()).toISOString(),
      sessionId: job.sessionId,
      logicalParent: job.lastUuid ?? job.view.sources.at(-1)?.uuids.at(-1),
      envelope: job.envelope,
    },
  )
}

const providerSummaryIntro =
  'The summary is in the block before this message, as the provider wrote it. What follows was read off the conversation by code; where the two differ, this is right.'

function providerSummaryOf({ written, page }: Made, { provider }: ModelClient): ProviderSummary | undefined {
  const { block, model } = written
  if (block === undefined || model === undefined || page.isOffline) return undefined
  const beside = page.beside.trim() === '' ? providerSummaryIntro : `${providerSummaryIntro}\n\n${page.beside}`
  return { provider, model, block, beside }
}
