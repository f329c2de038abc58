// Everlong's compaction in the place of pi's: pi decides when, and what stays verbatim. The summary is one call of pi's own
// model, checked against the conversation. Where that fails, code writes it; where that fails too, pi compacts as usual.
import { randomUUID } from 'node:crypto'
import type { ModelRequest } from 'everlong'
import { systemPorts } from 'everlong/internal'
import { type CompactionJob, noHooks, piCompaction, runCompaction } from 'everlong/internal/compaction'
import { compactionJobAt, type Transcript } from 'everlong/internal/node'
import { cachedPrompt, isCached, type Sent } from './cached-prompt.ts'
import { piModel } from './model.ts'
import type { BeforeCompactEvent, BeforeCompactResult, Context, Model } from './pi-api.ts'
import { openBranch, thresholdOf } from './session.ts'

/** Restored files may take this share of the window: pi keeps the newest messages anyway. */
const restoredShare = 0.1
const maxRestored = 50_000

export type CompactInput = {
  readonly context: Context
  /** The last request that pi sent. */
  readonly sent: Sent | undefined
  /** Whether the agent has the recall tool. */
  readonly recall: boolean
}

export async function compactForPi(
  event: BeforeCompactEvent,
  input: CompactInput,
): Promise<BeforeCompactResult | undefined> {
  const { context } = input
  const { model } = context
  if (!model) return undefined
  const session = openBranch(context, event.branchEntries)
  const { messages } = session.view
  const cached = isCached(input.sent, model, Date.now()) ? cachedPrompt(input.sent, session.view) : undefined
  const client = piModel({ context, model, signal: event.signal, cached })
  const conversation: ModelRequest | undefined = cached && { source: 'turn', model: model.id, messages }
  const job = { ...jobFor(session, event, { model, recall: input.recall }), conversation }
  const { now, wait } = systemPorts
  const result = await runCompaction(
    job,
    { now, wait, newId: randomUUID, model: client, hooks: noHooks, emit: () => undefined },
    { signal: event.signal },
  )
  if (result.type === 'failed') {
    if (!event.signal.aborted)
      context.ui.notify(`Everlong did not compact, so pi does (${result.reason}): ${result.why}`, 'warning')
    return undefined
  }
  const { firstKeptEntryId: _, ...compaction } = piCompaction(result, '')
  const usage = client.spent()
  return {
    compaction: {
      ...compaction,
      firstKeptEntryId: result.keptUuids[0] ?? null,
      tokensBefore: event.preparation.tokensBefore,
      ...(usage ? { usage } : {}),
    },
  }
}

type JobInput = { readonly model: Model; readonly recall: boolean }

function jobFor(session: Transcript, event: BeforeCompactEvent, { model, recall }: JobInput): CompactionJob {
  const { preparation, reason, customInstructions } = event
  const cut = firstShown(session, event)
  const { transcriptPath, ...job } = compactionJobAt(session, {
    ...(cut === undefined ? {} : { partial: { type: 'up-to', uuid: cut } }),
    ...(customInstructions === undefined ? {} : { instructions: customInstructions }),
  })
  return {
    ...job,
    trigger: reason === 'manual' ? 'manual' : 'auto',
    reason,
    recall,
    contextWindow: model.contextWindow,
    threshold: thresholdOf(model.contextWindow, preparation.settings),
    size: preparation.tokensBefore,
    settings: { restoreTokens: Math.min(maxRestored, Math.floor(model.contextWindow * restoredShare)) },
    ...(transcriptPath === '' ? {} : { transcriptPath }),
  }
}

/** The first entry from where pi wants to keep on that a model sees: pi may name a note of its own. */
function firstShown(session: Transcript, { branchEntries, preparation }: BeforeCompactEvent): string | undefined {
  const shown = new Set(session.view.sources.flatMap(({ uuids }) => uuids))
  const start = branchEntries.findIndex(({ id }) => id === preparation.firstKeptEntryId)
  return start < 0 ? undefined : branchEntries.slice(start).find(({ id }) => shown.has(id))?.id
}
