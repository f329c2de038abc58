// The records that a compaction appends to the transcript, and the figures in its boundary. A summary by the provider is stored
// with its block, which may only be sent back unchanged and to the model that signed it.
import { costOf } from '../cache/economics.ts'
import type { Ledger } from '../ledger/facts.ts'
import { toJson } from '../ledger/json.ts'
import { defined, type JsonObject } from '../message/json.ts'
import { totalOf } from '../message/usage.ts'
import type { ModelClient } from '../ports/model.ts'
import type { ProviderSummary } from '../request/repair.ts'
import { type CompactionRecords, compactionRecords } from '../transcript/format/compaction-records.ts'
import type { Summary } from './ask/asker.ts'
import type { Assembled } from './assemble.ts'
import type { Page } from './compose.ts'
import type { CompactionRun } from './history.ts'
import type { Compaction } from './job.ts'

/** Written by a model, a hook or the notes of the session. Without a text, code writes it. */
export type WrittenSummary = Pick<Summary, 'mechanism'> & Partial<Summary>

/** The parts of a compaction, before they become records. */
export type Draft = {
  readonly summary: WrittenSummary
  readonly instructions: string
  readonly ledger: Ledger
  readonly page: Page
  readonly assembled: Assembled
}

type Figures = Pick<
  Compaction,
  | 'tokens'
  | 'before'
  | 'after'
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

export function figuresOf(
  { job, plan, ports, usage, hitRate, attempts, history, started }: CompactionRun,
  { summary, page, assembled }: Draft,
): Figures {
  const { before, size } = plan.tokens
  return {
    tokens: { before, after: assembled.tokens },
    before: size,
    after: job.scale.toReported(assembled.tokens + (job.overhead ?? 0)),
    mechanism: page.isOffline ? 'offline' : summary.mechanism,
    usage,
    ...defined({
      // A summary that did not fit was dropped, so no text is the model's.
      model: page.isOffline ? undefined : summary.answer?.model,
      cost: totalOf(usage) === 0 ? undefined : costOf(usage, summary.answer?.model ?? plan.model),
      hitRate,
    }),
    attempts,
    chain: history.chain,
    durationMs: Math.max(0, ports.now() - started),
    composition: { ...page.composition, restored: assembled.restored.tokens },
  }
}

export function recordsOf(run: CompactionRun, draft: Draft, figures: Figures): CompactionRecords {
  const { job, plan, history, ports, tried } = run
  const { assembled, page } = draft
  const { summarized, keptUuids, variant, removesThinking } = plan.parts
  const { before, after, chain, durationMs, ...rest } = figures
  const everlong: JsonObject = {
    ...rest,
    size: { after, ...defined({ model: job.counting?.model }) },
    reason: job.reason,
    // Everything after the kept messages counts with the messages, so only tokens before it are freed.
    freed: plan.tokens.before - assembled.frontTokens,
    chain: { ...chain, ...defined({ turnId: job.turnId }) },
    turns: history.turns,
    fidelity: page.report,
    tried,
    ledger: toJson(draft.ledger),
    ...(variant === 'from' ? { ledgerHasKept: true } : {}),
  }
  return compactionRecords(
    {
      facts: {
        trigger: job.trigger,
        preTokens: before,
        postTokens: after,
        durationMs,
        messagesSummarized: summarized.length,
        cumulativeDroppedTokens: history.dropped + Math.max(0, before - after),
        discoveredTools: history.discoveredTools,
        userContext: draft.instructions,
        everlong,
      },
      summary: assembled.summary,
      ...defined({ served: providerSummaryOf(draft, ports.model) }),
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

function providerSummaryOf({ summary, page }: Draft, { provider }: ModelClient): ProviderSummary | undefined {
  const { content = [], model } = summary.answer ?? {}
  const block = content.find(({ type }) => type === 'compaction')
  if (block === undefined || model === undefined || page.isOffline) return undefined
  const beside = page.beside.trim() === '' ? providerSummaryIntro : `${providerSummaryIntro}\n\n${page.beside}`
  return { provider, model, block, beside }
}
