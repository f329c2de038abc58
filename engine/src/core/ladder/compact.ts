// The compaction procedure: one for manual, automatic and reactive, full and partial. Until its records are written
// nothing has changed, and whatever fails says why. It reaches the world through ports only.
import { noTokens } from '../message/usage.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { arrangeContext, reservedTokens } from './compact-arrange.ts'
import { commitCompaction } from './compact-commit.ts'
import { fitSummary, sizeOf, tokensOf } from './compact-fit.ts'
import { fitGiven } from './compact-given.ts'
import { historyOf } from './compact-history.ts'
import { type Compacted, type CompactionInput, type CompactionResult, defaultCompaction } from './compact-input.ts'
import { type CompactionParts, compactionParts, withoutThinking } from './compact-parts.ts'
import { mostTokens } from './compact-plan.ts'
import { getProse } from './compact-prose.ts'
import { Ended, enter, isSaid, mayGoOn, type Run, runHooks } from './compact-run.ts'
import { servedBy } from './compact-served.ts'

export async function runCompaction(
  input: CompactionInput,
  ports: CompactionPorts,
  signal?: AbortSignalPort,
): Promise<CompactionResult> {
  const run: Run = {
    input,
    settings: { ...defaultCompaction, ...input.settings },
    ports,
    signal,
    history: historyOf(input),
    started: ports.now(),
    tried: [],
    notices: [],
    usage: noTokens,
  }
  try {
    const result = await procedure(run)
    if (input.tellsEnds !== false) tellFinished(run, result)
    return result
  } catch (error) {
    // Whoever shows progress must see its end, also when it was a fault.
    const isOurs = error instanceof Ended
    const reason = isOurs ? error.reason : 'no_summary'
    const detail = isOurs ? error.message : 'Something unexpected happened.'
    if (input.tellsEnds !== false) ports.emit({ type: 'compaction-failed', trigger: input.trigger, reason, detail })
    if (!isOurs) throw error
    return { type: 'failed', reason, detail, tried: run.tried, usage: run.usage, notices: run.notices }
  }
}

/** The steps of the specification, in their order. */
async function procedure(run: Run): Promise<Compacted> {
  const { input, settings, ports } = run
  mayGoOn(run)
  const tokensBefore = input.viewTokens ?? tokensOf(input.view.messages, input.counting)
  const parts = select(run)
  const tokens = input.size ?? sizeOf(tokensBefore, input)
  if (input.tellsEnds !== false) ports.emit({ type: 'compaction-started', trigger: input.trigger, tokens })
  const hooks = await hooksBefore(run)
  const instructions = [input.instructions ?? '', ...hooks.instructions].filter(isSaid).join('\n\n')
  const prose = await getProse(run, { parts, instructions, hooks })
  enter(run, 'verifying')
  const ledger = run.history.ledgerWith(parts.summarised)
  const kept = parts.unthinks ? withoutThinking(parts.kept) : parts.kept
  const most = mostTokens(input, { settings, tokensBefore })
  const room = most - (await reservedTokens(run, { parts, kept, most }))
  const fit = { input, settings, parts, kept, ledger, instructions, most: room }
  const fitted = prose.isGiven ? fitGiven(fit, prose.text ?? '') : fitSummary(fit, prose.text)
  if ('detail' in fitted) throw new Ended('no_progress', fitted.detail)
  const arranged = await arrangeContext(run, { parts, kept, fitted, most })
  if (arranged.tokens > most) throw new Ended('no_progress', 'What hooks added leaves no room: let them say less.')
  const served = servedBy(fit, prose, fitted)
  return commitCompaction(run, { parts, instructions, ledger, prose, fitted, served, arranged, tokensBefore })
}

function select({ input, settings, history }: Run): CompactionParts {
  const { view, partial, threshold, conversation, counting } = input
  const model = conversation?.model ?? counting?.model ?? history.model
  const parts = compactionParts(view, partial, { model, largest: threshold * settings.targetShare })
  if (parts.type === 'nothing') throw new Ended('nothing_to_compact', parts.why)
  if (parts.unthinks && settings.boundThinking === 'decline') {
    const why = 'The model binds its thinking to what would go, and messages that think were to be kept.'
    throw new Ended('nothing_to_compact', `${why} Compact everything, or let their thinking be removed.`)
  }
  return parts
}

async function hooksBefore(run: Run) {
  const { input } = run
  enter(run, 'hooks-before')
  const call = { event: 'PreCompact', trigger: input.trigger, instructions: input.instructions ?? '' } as const
  const outcome = await runHooks(run, call)
  mayGoOn(run)
  if (outcome.veto !== undefined) throw new Ended('vetoed', isSaid(outcome.veto) ? outcome.veto : 'A hook said no.')
  return outcome
}

function tellFinished({ input, ports }: Run, result: Compacted): void {
  ports.emit({
    type: 'compaction-finished',
    trigger: input.trigger,
    mechanism: result.mechanism,
    tokensBefore: result.size.before,
    tokensAfter: result.size.after,
    durationMs: result.durationMs,
    usage: result.usage,
    ...(result.cost === undefined ? {} : { cost: result.cost }),
    chain: result.chain,
    restored: result.restored.pieces.length,
  })
}
