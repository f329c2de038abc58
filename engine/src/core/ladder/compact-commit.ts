// The last steps of a compaction: its records, the one write, and what it has to report.
import { costOf } from '../cache/prices.ts'
import type { Ledger } from '../ledger/facts.ts'
import { toJson } from '../ledger/json.ts'
import type { JsonObject } from '../message/json.ts'
import { totalOf } from '../message/usage.ts'
import { type CompactionFacts, type CompactionRecords, compactionRecords } from '../transcript/compaction-records.ts'
import type { Edit } from '../transcript/edits.ts'
import type { Arranged } from './compact-arrange.ts'
import { type Fitted, sizeOf } from './compact-fit.ts'
import { chainOf } from './compact-history.ts'
import type { Compacted } from './compact-input.ts'
import type { CompactionParts } from './compact-parts.ts'
import { type Prose, summariserOf } from './compact-prose.ts'
import { Ended, enter, mayGoOn, type Run, runHooks } from './compact-run.ts'
import type { Served } from './compact-served.ts'

export type CommitInput = {
  readonly parts: CompactionParts
  readonly instructions: string
  readonly ledger: Ledger
  readonly prose: Prose
  readonly fitted: Fitted
  /** The provider's own, where it wrote the summary. */
  readonly served: Omit<Served, 'provider'> | undefined
  readonly arranged: Arranged
  readonly tokensBefore: number
}

export async function commitCompaction(run: Run, at: CommitInput): Promise<Compacted> {
  const { input, ports } = run
  const done = doneBy(run, at)
  enter(run, 'committing')
  const made = recordsOf(run, at, done)
  mayGoOn(run)
  const written = await input.commit?.(made.records)
  if (written?.type === 'failed') throw new Ended(written.reason ?? 'write_failed', written.message)
  ports.emit({ type: 'compaction-progressed', phase: 'hooks-after' })
  const after = await runHooks(run, {
    event: 'PostCompact',
    trigger: input.trigger,
    summary: at.fitted.summary,
    tokensBefore: done.size.before,
    tokensAfter: done.size.after,
    fidelity: at.fitted.report,
  })
  if (input.tellsEnds !== false && input.threshold > 0 && done.size.after >= input.threshold) {
    ports.emit({ type: 'still-over-threshold', tokens: done.size.after, threshold: input.threshold })
  }
  return {
    type: 'compacted',
    records: made.records,
    messages: at.arranged.messages,
    summary: at.fitted.summary,
    boundaryUuid: made.boundary,
    summaryUuid: made.summary,
    keptUuids: at.parts.keptUuids,
    ...done,
    tried: run.tried,
    fidelity: at.fitted.report,
    ledger: at.ledger,
    restored: at.arranged.restored,
    notices: run.notices,
    contextAfter: after.context,
  }
}

type Done = Pick<
  Compacted,
  'tokens' | 'size' | 'mechanism' | 'model' | 'usage' | 'cost' | 'hitRate' | 'chain' | 'durationMs'
>

function doneBy(run: Run, { prose, fitted, arranged, tokensBefore }: CommitInput): Done {
  const { input, ports, usage } = run
  // Prose that would not fit was given up; then the model wrote nothing of what is there now.
  const isOffline = prose.text === undefined || fitted.isOffline
  const model = isOffline ? undefined : prose.model
  const cost = totalOf(usage) === 0 ? undefined : costOf(usage, prose.model ?? summariserOf(run))
  return {
    tokens: { before: tokensBefore, after: arranged.tokens },
    size: { before: input.size ?? sizeOf(tokensBefore, input), after: sizeOf(arranged.tokens, input) },
    mechanism: isOffline ? 'offline' : prose.mechanism,
    ...(model === undefined ? {} : { model }),
    usage,
    ...(cost === undefined ? {} : { cost }),
    ...(prose.hitRate === undefined ? {} : { hitRate: prose.hitRate }),
    chain: chainOf(input, run.history),
    durationMs: Math.max(0, ports.now() - run.started),
  }
}

function recordsOf(run: Run, at: CommitInput, done: Done): CompactionRecords {
  const { input, ports } = run
  const { parts, fitted, served, arranged } = at
  const place = parts.variant === 'from' ? 'before' : 'after'
  const unthink: Edit = { type: 'clear-thinking', mechanism: 'partial', reason: 'bound to what was summarised' }
  return compactionRecords(
    {
      facts: factsOf(run, at, done),
      summary: fitted.summary,
      ...(served ? { served: { provider: ports.model.provider, ...served } } : {}),
      kept: parts.keptUuids.length === 0 ? undefined : { uuids: parts.keptUuids, place },
      attachments: arranged.attachments,
      closing: arranged.closing,
      edits: parts.unthinks ? [unthink] : [],
    },
    {
      newId: ports.newId,
      timestamp: new Date(ports.now()).toISOString(),
      sessionId: input.sessionId,
      logicalParent: input.lastUuid ?? input.view.sources.at(-1)?.uuids.at(-1),
      envelope: input.envelope,
    },
  )
}

function factsOf({ input, history, tried }: Run, at: CommitInput, done: Done): CompactionFacts {
  const { size, chain, durationMs, tokens, ...rest } = done
  const everlong: JsonObject = {
    ...rest,
    reason: input.reason,
    tokens,
    chain: { ...chain, ...(input.turnId === undefined ? {} : { turnId: input.turnId }) },
    fidelity: at.fitted.report,
    tried,
    ledger: toJson(at.ledger),
  }
  return {
    trigger: input.trigger,
    preTokens: size.before,
    postTokens: size.after,
    durationMs,
    messagesSummarized: at.parts.summarised.length,
    cumulativeDroppedTokens: history.dropped + Math.max(0, size.before - size.after),
    discoveredTools: history.discoveredTools,
    userContext: at.instructions,
    everlong,
  }
}
