// One compaction, in the order in which it happens: plan, hooks, ask, check, compose, restore, assemble, write, hooks.
// Manual, automatic and reactive, full and partial go through here. Until the records are written nothing has changed.
import { costOf } from '../cache/prices.ts'
import { noTokens, type TokenCounts, totalOf } from '../message/usage.ts'
import { describeWorkspace } from '../ports/describe-workspace.ts'
import type { CompactionFailure, CompactionPhase, Tried } from '../ports/events.ts'
import type { HookCall, HookOutcome } from '../ports/hooks.ts'
import type { AbortSignalPort, ModelRequest } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { Restoration } from '../ports/restore.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import { formatNumber } from '../tokens/figure.ts'
import { askForSummary, type Summary } from './ask/ask.ts'
import { type Assembled, assemble, type Frame, frameOf, promisedTokens, restoreWithin } from './assemble.ts'
import { checkSummary } from './check.ts'
import { type ComposeInput, composePage, emptyPage, nextIn, type Page } from './compose.ts'
import { type History, historyOf, ledgerWith } from './history.ts'
import type { Compacted, CompactionFailed, CompactionJob, CompactionResult } from './job.ts'
import { type Planned, planCompaction, textCounter } from './plan.ts'
import { type ProviderSummary, providerSummaryIntro } from './provider-summary.ts'
import { type Figures, recordsOf } from './records.ts'

/** One compaction on its own: it also emits when it starts and how it ends. */
export async function runCompaction(
  job: CompactionJob,
  ports: CompactionPorts,
  signal?: AbortSignalPort,
): Promise<CompactionResult> {
  const { trigger } = job
  const tokens = job.size ?? withMargin((job.viewTokens ?? 0) + (job.overhead ?? 0))
  ports.emit({ type: 'compaction-started', trigger, tokens })
  const result = await performCompaction(job, ports, signal).catch((error: unknown) => {
    // Whoever shows progress must see its end, also when the fault is ours.
    const detail = 'Something unexpected happened.'
    ports.emit({ type: 'compaction-failed', trigger, reason: 'no_summary', detail })
    throw error
  })
  if (result.type === 'failed') {
    ports.emit({ type: 'compaction-failed', trigger, reason: result.reason, detail: result.detail })
    return result
  }
  const { mechanism, size, durationMs, usage, cost, chain, restored } = result
  ports.emit({
    type: 'compaction-finished',
    trigger,
    mechanism,
    tokensBefore: size.before,
    tokensAfter: size.after,
    durationMs,
    usage,
    ...(cost === undefined ? {} : { cost }),
    chain,
    restored: restored.pieces.length,
  })
  if (job.threshold > 0 && size.after >= job.threshold) {
    ports.emit({ type: 'still-over-threshold', tokens: size.after, threshold: job.threshold })
  }
  return result
}

type Run = {
  readonly job: CompactionJob
  readonly plan: Planned
  readonly history: History
  readonly ports: CompactionPorts
  readonly signal: AbortSignalPort | undefined
  readonly started: number
  readonly tried: Tried[]
  readonly notices: string[]
  usage: TokenCounts
}

/** An expected end before anything was written. */
type Stop = { readonly type: 'stop'; readonly reason: CompactionFailure; readonly detail: string }

/** The same without a word about start and end: for a ladder, which emits those itself. */
export async function performCompaction(
  job: CompactionJob,
  ports: CompactionPorts,
  signal?: AbortSignalPort,
): Promise<CompactionResult> {
  const started = ports.now()
  const plan = planCompaction(job, ports.model)
  if (plan.type === 'declined') return failed({ type: 'stop', reason: 'nothing_to_compact', detail: plan.why })
  const run: Run = {
    job,
    plan,
    history: historyOf(job),
    ports,
    signal,
    started,
    tried: [],
    notices: [],
    usage: noTokens,
  }
  const result = await steps(run)
  return result.type === 'stop' ? failed(result, run) : result
}

function failed({ reason, detail }: Stop, run?: Run): CompactionFailed {
  const { tried = [], usage = noTokens, notices = [] } = run ?? {}
  return { type: 'failed', reason, detail, tried, usage, notices }
}

async function steps(run: Run): Promise<Compacted | Stop> {
  const { job, plan, history } = run
  const hooks = await hooksBefore(run)
  if ('type' in hooks) return hooks
  const instructions = [job.instructions ?? '', ...hooks.instructions].filter(hasText).join('\n\n')
  const { summarized, variant } = plan.parts
  const ledger = ledgerWith(history, job, summarized)
  const all = variant === 'from' ? [...plan.kept, ...summarized] : [...summarized, ...plan.kept]
  const frame = frameOf(job, plan, ledgerWith(history, job, all))
  const { limit } = plan.tokens
  const availableTokens = limit - frame.sizeWith(frame.summaryWith(''))
  const written = await getSummary(run, { hooks, instructions, availableTokens })
  if (written.type === 'stop') return written
  const aborted = enter(run, 'verifying')
  if (aborted) return aborted
  const composing: ComposeInput = {
    checked: written.text === undefined ? undefined : checkSummary(written.text, { messages: all, ledger }),
    ledger,
    since: history.carried.messages,
    earlierSummary: history.summary,
    instructions,
    workspace: await workspaceNow(run),
    variant: plan.parts.variant,
    recall: job.recall === true,
    summaryTokens: plan.settings.summaryTokens,
    userTokens: plan.settings.userTokens,
    offlineTokens: job.budget ?? Math.min(plan.settings.offlineTokens, plan.tokens.summarized * offlineShare),
    countTokens: textCounter(job.counting),
  }
  const stopped = enter(run, 'restoring')
  if (stopped) return stopped
  const next = nextIn(composing)
  const restored = await restoreWithin({ job, plan, next }, limit)
  const room = limit - promisedTokens(restored, { job, plan })
  const fitted = fitPage(composing, { frame, room, mayBeEmpty: job.budget !== undefined })
  if (!fitted) return { type: 'stop', reason: 'no_progress', detail: whatIsTooLarge(run, frame.sizeWith('')) }
  const assembled = await restoreAndAssemble(run, { frame, restored, next, ...fitted })
  if ('type' in assembled) return assembled
  return commit(run, { written, instructions, ledger, page: fitted.page, assembled })
}

/** Asked at this moment; undefined where there is no workspace, or it cannot tell. */
async function workspaceNow({ plan, ports, signal }: Run): Promise<string | undefined> {
  const time = plan.parts.summarized.find((message) => message.time !== undefined)?.time
  const state = await ports.workspace?.state({ since: time === undefined ? undefined : { time }, signal })
  return state?.type === 'state' ? describeWorkspace(state) : undefined
}

function hasText(text: string): boolean {
  return text.trim() !== ''
}

/** Emits the phase; the end instead, when the run was aborted. */
function enter({ ports, signal }: Run, phase: CompactionPhase): Stop | undefined {
  if (signal?.aborted) return { type: 'stop', reason: 'aborted', detail: 'It was stopped.' }
  ports.emit({ type: 'compaction-progressed', phase })
  return undefined
}

async function runHooks({ ports, notices, signal }: Run, call: HookCall): Promise<HookOutcome> {
  const outcome = await ports.hooks.run(call, { signal })
  for (const problem of outcome.problems) ports.emit({ type: 'hook-reported', event: call.event, problem })
  notices.push(...outcome.messages)
  return outcome
}

async function hooksBefore(run: Run): Promise<HookOutcome | Stop> {
  const { trigger, instructions = '' } = run.job
  const aborted = enter(run, 'hooks-before')
  if (aborted) return aborted
  const outcome = await runHooks(run, { event: 'PreCompact', trigger, instructions })
  if (outcome.veto === undefined) return outcome
  return { type: 'stop', reason: 'vetoed', detail: hasText(outcome.veto) ? outcome.veto : 'A hook said no.' }
}

/** Where the summary came from; without text it is to be written by code. */
type Written = Pick<Summary, 'mechanism'> &
  Partial<Pick<Summary, 'text' | 'model' | 'block'>> & { readonly type: 'written'; readonly hitRate?: number }

type Asking = { readonly hooks: HookOutcome; readonly instructions: string; readonly availableTokens: number }

async function getSummary(run: Run, { hooks, instructions, availableTokens }: Asking): Promise<Written | Stop> {
  const { job, plan, ports, signal } = run
  const aborted = enter(run, 'summarizing')
  if (aborted) return aborted
  if (hooks.summary !== undefined && hasText(hooks.summary)) {
    note(run, { mechanism: 'hook', outcome: 'done', why: 'a hook gave the summary' })
    return { type: 'written', text: hooks.summary, mechanism: 'hook' }
  }
  const { given } = job
  if (given) {
    note(run, { mechanism: given.mechanism, outcome: 'done', why: given.why })
    return { type: 'written', text: given.text, mechanism: given.mechanism }
  }
  // A recorded model needs no network either, but it has something to say.
  if (ports.model.provider === 'offline') return withoutModel(run, 'no model is asked')
  const { parts, settings, model } = plan
  const isShared = plan.mechanisms.includes('cache-sharing')
  const result = await askForSummary(
    {
      pieces: parts.summarized,
      retained: parts.variant === 'from' ? parts.kept : [],
      variant: parts.variant,
      instructions,
      conversation: isShared ? ownRequest(run) : undefined,
      isOnDemand: plan.mechanisms.includes('server-compaction'),
      model,
      ...(model === job.conversation?.model ? { window: job.contextWindow } : {}),
      maxTokens: plan.tokens.summary,
      availableTokens,
      counting: { ...job.counting, model },
    },
    ports,
    signal,
  )
  run.tried.push(...result.tried)
  run.usage = result.usage
  if (result.type === 'aborted' || signal?.aborted)
    return { type: 'stop', reason: 'aborted', detail: 'It was stopped.' }
  if (result.type === 'summary') return { ...result, type: 'written' }
  const { reason, why } = result
  if (settings.offline === 'never' || (settings.offline === 'overflow' && reason !== 'prompt_too_long')) {
    return { type: 'stop', reason, detail: why }
  }
  return withoutModel(run, `no model could write it: ${why}`)
}

function note({ ports, tried }: Run, item: Tried): void {
  tried.push(item)
  ports.emit({ type: 'mechanism-tried', mechanism: item.mechanism, outcome: item.outcome, why: item.why })
}

function withoutModel(run: Run, why: string): Written {
  note(run, { mechanism: 'offline', outcome: 'done', why })
  return { type: 'written', mechanism: 'offline' }
}

/** up-to: as far as the cut, where the conversation's messages are those of the view; elsewhere the cache is of no use. */
function ownRequest({ job: { conversation, view }, plan: { parts } }: Run): ModelRequest | undefined {
  if (!conversation || parts.variant !== 'up-to') return conversation
  const isView = conversation.messages.length === view.messages.length
  if (!isView || parts.cutMessage === undefined) return undefined
  return { ...conversation, messages: conversation.messages.slice(0, parts.cutMessage) }
}

type Restoring = { readonly frame: Frame; readonly restored: Restoration; readonly next: string }
type Fitted = { readonly page: Page; readonly isShort: boolean }

/**
 * The page within the limit; without the words around it where not even they leave room. For a budget that is too small
 * even for that, the latest request is what is left.
 */
function fitPage(
  input: ComposeInput,
  { frame, room, mayBeEmpty }: { readonly frame: Frame; readonly room: number; readonly mayBeEmpty: boolean },
): Fitted | undefined {
  for (const isShort of [false, true]) {
    const around = frame.sizeWith(frame.summaryWith('', { isShort }))
    if (around >= room) continue
    for (const share of [1, 0.95, 0.85]) {
      const page = composePage(input, Math.floor((room - around) * share))
      if (page && frame.sizeWith(frame.summaryWith(page.text, { isShort })) <= room) return { page, isShort }
    }
  }
  const alone = frame.summaryWith('', { isShort: true })
  const isUsable = mayBeEmpty && alone !== '' && frame.sizeWith(alone) <= room
  return isUsable ? { page: emptyPage, isShort: true } : undefined
}

async function restoreAndAssemble(
  run: Run,
  { frame, page, isShort, restored: all, next }: Fitted & Restoring,
): Promise<Assembled | Stop> {
  const { job, plan, ports } = run
  const { limit } = plan.tokens
  const left = limit - frame.sizeWith(frame.summaryWith(page.text, { isShort }))
  // Where the page left less room than everything needs, files are chosen and cut again for the room there is.
  const restored = all.tokens <= left ? all : await restoreWithin({ job, plan, next }, left)
  const { context } = await runHooks(run, { event: 'SessionStart', source: 'compact' })
  if (run.signal?.aborted) return { type: 'stop', reason: 'aborted', detail: 'It was stopped.' }
  const assembled = assemble(frame, { page: page.text, isShort, restored, context: context.filter(hasText), limit })
  if (assembled.tokens > limit) {
    return { type: 'stop', reason: 'no_progress', detail: 'What hooks added leaves no room: have them say less.' }
  }
  for (const { path, tokens } of assembled.restored.pieces) {
    if (path !== undefined) ports.emit({ type: 'file-restored', path, tokens })
  }
  for (const { what, why } of assembled.restored.notRestored) {
    ports.emit({ type: 'file-not-restored', path: what, reason: why })
  }
  return assembled
}

/** Of what it replaces: a summary of summaries that took more would grow from round to round. */
const offlineShare = 0.3

type Committing = {
  readonly written: Written
  readonly instructions: string
  readonly ledger: Compacted['ledger']
  readonly page: Page
  readonly assembled: Assembled
}

async function commit(run: Run, at: Committing): Promise<Compacted | Stop> {
  const { job, plan, history, ports, tried } = run
  const { ledger, page, assembled, instructions } = at
  const aborted = enter(run, 'committing')
  if (aborted) return aborted
  const figures = figuresOf(run, at)
  const served = providerSummaryOf(run, at)
  const { report } = page
  const made = recordsOf({ job, plan, history, instructions, ledger, assembled, served, report, figures, tried }, ports)
  // Whoever was told of this phase may have stopped it.
  if (run.signal?.aborted) return { type: 'stop', reason: 'aborted', detail: 'It was stopped.' }
  const outcome = await job.commit?.(made.records)
  if (outcome?.type === 'failed') {
    return { type: 'stop', reason: outcome.reason ?? 'write_failed', detail: outcome.message }
  }
  ports.emit({ type: 'compaction-progressed', phase: 'hooks-after' })
  const { size } = figures
  const after = await runHooks(run, {
    event: 'PostCompact',
    trigger: job.trigger,
    summary: assembled.summary,
    tokensBefore: size.before,
    tokensAfter: size.after,
    fidelity: report,
  })
  return {
    type: 'compacted',
    records: made.records,
    messages: assembled.messages,
    summary: assembled.summary,
    boundaryUuid: made.boundary,
    summaryUuid: made.summary,
    keptUuids: plan.parts.keptUuids,
    ...figures,
    tried,
    fidelity: report,
    ledger,
    restored: assembled.restored,
    notices: run.notices,
    contextAfter: after.context,
  }
}

function figuresOf(run: Run, { written, page, assembled }: Committing): Figures {
  const { job, plan, ports, usage, history } = run
  const { before } = plan.tokens
  const sizeOf = (tokens: number) => withMargin(tokens + (job.overhead ?? 0))
  // A summary that would not fit was given up; then the model wrote nothing of what is there now.
  const model = page.isOffline ? undefined : written.model
  const cost = totalOf(usage) === 0 ? undefined : costOf(usage, written.model ?? plan.model)
  return {
    tokens: { before, after: assembled.tokens },
    size: { before: job.size ?? sizeOf(before), after: sizeOf(assembled.tokens) },
    mechanism: page.isOffline ? 'offline' : written.mechanism,
    ...(model === undefined ? {} : { model }),
    usage,
    ...(cost === undefined ? {} : { cost }),
    ...(written.hitRate === undefined ? {} : { hitRate: written.hitRate }),
    chain: history.chain,
    durationMs: Math.max(0, ports.now() - run.started),
    composition: { ...page.composition, restored: assembled.restored.tokens },
  }
}

function providerSummaryOf({ ports }: Run, { written, page }: Committing): ProviderSummary | undefined {
  const { block, model } = written
  if (block === undefined || model === undefined || page.isOffline) return undefined
  const beside = [providerSummaryIntro, page.beside].filter(hasText).join('\n\n')
  return { provider: ports.model.provider, model, block, beside }
}

/** Which part leaves no room, and what a person can do about it. */
function whatIsTooLarge({ job, plan }: Run, base: number): string {
  const { limit, kept } = plan.tokens
  const around = job.overhead ?? 0
  if (plan.kept.length > 0 && kept > limit / 2) {
    return `The messages to be kept alone have about ${formatNumber(kept)} tokens, and ${formatNumber(limit)} are allowed: choose a later message, or compact everything.`
  }
  if (around > limit) {
    return `The system prompt and the tools have about ${formatNumber(around)} tokens, and leave no room: remove tools or instructions, or choose a model with a larger window.`
  }
  // Nothing limits it but its own size.
  if (limit >= plan.tokens.before - 1) {
    return `The conversation is too short to be made smaller: it has about ${formatNumber(plan.tokens.before)} tokens.`
  }
  return `Even the shortest summary does not fit into ${formatNumber(Math.max(0, limit - base))} tokens: allow a larger budget, choose a model with a larger window, or start a new conversation.`
}
