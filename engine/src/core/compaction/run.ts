// One compaction, in the order in which it happens: plan, hooks, ask, check, restore, compose, assemble, write, hooks.
// Manual, automatic and reactive, full and partial go through here. Until the records are written nothing has changed.
import { costOf } from '../cache/economics.ts'
import { defined } from '../message/json.ts'
import { noTokens, totalOf } from '../message/usage.ts'
import { type CompactionFailure, type CompactionPhase, outcomesOf } from '../ports/events.ts'
import { untilAborted } from '../ports/guarded.ts'
import { withoutSecretsFor } from '../ports/guarded-ports.ts'
import type { HookCall, HookOutcome } from '../ports/hooks.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { Restoration } from '../ports/restore.ts'
import { describeWorkspace } from '../ports/workspace.ts'
import { createTextCounter } from '../tokens/estimate/counting.ts'
import { formatNumber } from '../tokens/figure.ts'
import { freesTooLittle } from '../tokens/size-scale.ts'
import { askForSummary, type Question } from './ask/ask.ts'
import { note } from './ask/asker.ts'
import { type Assembled, assemble, type Frame, frameOf, promisedTokens, restoreWithin } from './assemble.ts'
import { type Checked, checkSummary } from './check.ts'
import { type ComposeInput, composePage, emptyPage, nextIn, type Page } from './compose.ts'
import { historyOf, ledgerWith, type Run } from './history.ts'
import type { Compacted, CompactionJob, CompactionResult } from './job.ts'
import { planCompaction, withSizes } from './plan.ts'
import { figuresOf, type Made, recordsOf, type Written } from './records.ts'

/** One compaction on its own: it also emits when it starts and how it ends. */
export async function runCompaction(
  job: CompactionJob,
  ports: CompactionPorts,
  signal?: AbortSignalPort,
): Promise<CompactionResult> {
  const { trigger, threshold } = job
  const sized = withSizes(job)
  ports.emit({ type: 'compaction-started', trigger, tokens: sized.size })
  const result = await performCompaction(sized, ports, signal).catch((error: unknown) => {
    // Listeners that show progress must see its end, also when the fault is ours.
    const detail = 'Something unexpected happened.'
    const none = { usage: noTokens, attempts: 0, tried: [], durationMs: 0 }
    ports.emit({ type: 'compaction-failed', trigger, reason: 'no_summary', detail, ...none })
    throw error
  })
  const { usage, cost, hitRate, attempts, durationMs } = result
  const spent = { usage, attempts, durationMs, tried: outcomesOf(result.tried), ...defined({ cost, hitRate }) }
  if (result.type === 'failed') {
    ports.emit({ type: 'compaction-failed', trigger, reason: result.reason, detail: result.detail, ...spent })
    return result
  }
  const { mechanism, size, chain } = result
  const figures = { mechanism, tokensBefore: size.before, tokensAfter: size.after, chain }
  const restored = result.restored.pieces.length
  ports.emit({ type: 'compaction-finished', trigger, ...figures, ...spent, restored })
  if (threshold > 0 && size.after >= threshold)
    ports.emit({ type: 'still-over-threshold', tokens: size.after, threshold })
  return result
}

/** The same without a word about start and end: for a ladder, which emits those itself. */
export async function performCompaction(
  given: CompactionJob,
  ports: CompactionPorts,
  signal?: AbortSignalPort,
): Promise<CompactionResult> {
  const started = ports.now()
  const job = withSizes(given)
  const plan = planCompaction(job, ports.model)
  const none = { tried: [], usage: noTokens, attempts: 0, durationMs: 0, notices: [] }
  if (plan.type === 'declined') return { type: 'failed', reason: 'nothing_to_compact', detail: plan.why, ...none }
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
    attempts: 0,
  }
  const result = await steps(run)
  if (result.type === 'compacted') return result
  const { tried, usage, attempts, hitRate, notices } = run
  const cost = totalOf(usage) === 0 ? undefined : costOf(usage, plan.model)
  const spent = { usage, attempts, durationMs: Math.max(0, ports.now() - started), ...defined({ cost, hitRate }) }
  return { ...result, type: 'failed', tried, notices, ...spent }
}

/** An expected end before anything was written. */
type Stop = { readonly type: 'stop'; readonly reason: CompactionFailure; readonly detail: string }

function stop(reason: CompactionFailure, detail: string): Stop {
  return { type: 'stop', reason, detail }
}

const wasStopped = stop('aborted', 'It was stopped.')

async function steps(run: Run): Promise<Compacted | Stop> {
  const { job, plan, history } = run
  const { summarized, variant } = plan.parts
  const { limit } = plan.tokens
  if (isAborted(run, 'hooks-before')) return wasStopped
  const { trigger } = job
  const hooks = await runHooks(run, { event: 'PreCompact', trigger, instructions: job.instructions ?? '' })
  if (hooks.veto !== undefined) return stop('vetoed', hasText(hooks.veto) ? hooks.veto : 'A hook said no.')
  const instructions = [job.instructions ?? '', ...hooks.instructions].filter(hasText).join('\n\n')
  const ledger = ledgerWith(history, job, summarized)
  const all = variant === 'from' ? [...plan.kept, ...summarized] : [...summarized, ...plan.kept]
  const whole = ledgerWith(history, job, all)
  const frame = frameOf(job, plan, whole)
  if (isAborted(run, 'summarizing')) return wasStopped
  // Without room for the words around a summary there is none for a summary: no model has to be paid to find out.
  const least = frame.sizeWith(frame.summaryWith('', { isShort: true }))
  if (least > limit) return stop('no_progress', whatIsTooLarge(run, frame.sizeWith('')))
  const availableTokens = limit - frame.sizeWith(frame.summaryWith(''))
  const written = await getSummary(run, hooks.summary, { instructions, availableTokens })
  if (written.type === 'stop') return written
  if (isAborted(run, 'verifying')) return wasStopped
  const { text } = written
  const composing: ComposeInput = {
    // Checked first: a quotation without its secret is in no message.
    checked:
      text === undefined ? undefined : withoutSecretsIn(checkSummary(text, { messages: all, ledger }), run.ports),
    ledger,
    since: history.carried.messages,
    earlierSummary: history.summary,
    instructions,
    workspace: await workspaceNow(run),
    variant,
    // Notes have sections of their own.
    isSectioned: written.mechanism !== job.given?.mechanism,
    recall: job.recall === true,
    closes: frame.closes,
    unseen: frame.unseen,
    handoverTokens: handoverOf(run),
    countTokens: createTextCounter(job.counting),
  }
  if (isAborted(run, 'restoring')) return wasStopped
  const next = nextIn(composing)
  const restored = await restore(run, { next, tokens: plan.tokens.limitOfRestored })
  if (!restored) return wasStopped
  const promised = promisedTokens(restored, run)
  const room = limit - promised
  const fitted = fitPage(composing, { frame, room, mayBeEmpty: job.budget !== undefined })
  if (!fitted) return stop('no_progress', whatIsTooLarge(run, frame.sizeWith('')))
  const assembled = await restoreAndAssemble(run, { frame, restored, promised, next, ...fitted })
  if ('type' in assembled) return assembled
  // Kept messages before the summary are older than what it covers, so the facts to carry on must include them in order.
  const carried = variant === 'from' ? whole : ledger
  return commit(run, { written, instructions, ledger: carried, page: fitted.page, assembled })
}

function withoutSecretsIn({ text, ...found }: Checked, { redact }: CompactionPorts): Checked {
  const clean = withoutSecretsFor(redact)
  const lists = Object.entries(found).map(([name, texts]) => [name, texts.map(clean)])
  return { text: clean(text), ...(Object.fromEntries(lists) as typeof found) }
}

/** Of what the handover replaces: otherwise compacting a short conversation by hand would free little. */
const maxReplacedShare = 0.5

/** As it was set; else the budget of the whole context; else by the window. */
function handoverOf({ job, plan }: Run): number {
  const { handover, summarized } = plan.tokens
  return plan.settings.handoverTokens ?? job.budget ?? Math.min(handover, summarized * maxReplacedShare)
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

/** Whether it was stopped before this phase, which else is announced. */
function isAborted({ ports, signal }: Run, phase: CompactionPhase): boolean {
  if (signal?.aborted) return true
  ports.emit({ type: 'compaction-progressed', phase })
  return false
}

async function runHooks({ ports, notices, signal }: Run, call: HookCall): Promise<HookOutcome> {
  const outcome = await ports.hooks.run(call, { signal })
  for (const problem of outcome.problems) ports.emit({ type: 'hook-reported', event: call.event, problem })
  notices.push(...outcome.messages)
  return outcome
}

/** `given` is a hook's summary. */
async function getSummary(run: Run, given: string | undefined, question: Question): Promise<Written | Stop> {
  const { job, plan, ports, signal } = run
  const { offline } = plan.settings
  const without = (mechanism: string, why: string, text?: string): Written => {
    note(run, { mechanism, outcome: 'done', why })
    return { type: 'written', mechanism, text }
  }
  if (given !== undefined && hasText(given)) return without('hook', 'a hook gave the summary', given)
  if (job.given) return without(job.given.mechanism, job.given.why, job.given.text)
  // A recorded model needs no network either, but it has something to say.
  if (ports.model.provider === 'offline') return without('offline', 'no model is asked')
  const result = await askForSummary(run, question)
  if (result.type === 'aborted' || signal?.aborted) return wasStopped
  if (result.type === 'summary') return { ...result, type: 'written' }
  const { reason, why } = result
  const mayBeOffline = offline === 'always' || (offline === 'overflow' && reason === 'prompt_too_long')
  return mayBeOffline ? without('offline', `no model could write it: ${why}`) : stop(reason, why)
}

/** Undefined when it was stopped: code of the host may hang. */
function restore({ job, plan, signal }: Run, { next, tokens }: { readonly next: string; readonly tokens: number }) {
  return untilAborted(restoreWithin({ job, plan, next }, tokens), signal)
}

type Restoring = {
  readonly frame: Frame
  readonly restored: Restoration
  /** Tokens that pinned items and the plan have in any case. */
  readonly promised: number
  readonly next: string
}
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
    // The words around the page and the latest request belong to the handover, but leave at least half of it to the page.
    for (const share of [1, 0.95, 0.85]) {
      const handoverTokens = Math.max(input.handoverTokens - around, input.handoverTokens / 2)
      const page = composePage({ ...input, handoverTokens }, Math.floor((room - around) * share))
      if (page && frame.sizeWith(frame.summaryWith(page.text, { isShort })) <= room) return { page, isShort }
    }
  }
  const alone = frame.summaryWith('', { isShort: true })
  const isUsable = mayBeEmpty && alone !== '' && frame.sizeWith(alone) <= room
  return isUsable ? { page: emptyPage, isShort: true } : undefined
}

async function restoreAndAssemble(
  run: Run,
  { frame, page, isShort, restored: all, promised, next }: Fitted & Restoring,
): Promise<Assembled | Stop> {
  const { ports, signal, plan } = run
  const { limit, limitOfRestored } = plan.tokens
  const left = Math.max(promised, limitOfRestored - frame.sizeWith(frame.summaryWith(page.text, { isShort })))
  // Where the page left less room than everything needs, files are chosen and cut again for the room there is.
  const restored = all.tokens <= left ? all : await restore(run, { next, tokens: left })
  if (!restored) return wasStopped
  const { context } = await runHooks(run, { event: 'SessionStart', source: 'compact' })
  if (signal?.aborted) return wasStopped
  const assembled = assemble(frame, { page: page.text, isShort, restored, context: context.filter(hasText), limit })
  if (assembled.tokens > limit) return stop('no_progress', 'What hooks added leaves no room: have them say less.')
  for (const { path, tokens } of assembled.restored.pieces) {
    if (path !== undefined) ports.emit({ type: 'file-restored', path, tokens })
  }
  for (const { what, why } of assembled.restored.notRestored) {
    ports.emit({ type: 'file-not-restored', path: what, reason: why })
  }
  return assembled
}

async function commit(run: Run, made: Made): Promise<Compacted | Stop> {
  const { job, plan, ports, signal, tried, notices } = run
  const { ledger, page, assembled } = made
  if (isAborted(run, 'committing')) return wasStopped
  const figures = figuresOf(run, made)
  const { records, boundary, summary } = recordsOf(run, made, figures)
  // A listener that was told of this phase may have stopped it.
  if (signal?.aborted) return wasStopped
  const outcome = await job.commit?.(records)
  if (outcome?.type === 'failed') return stop(outcome.reason ?? 'write_failed', outcome.message)
  // What was added to the conversation meanwhile may have been kept as well.
  const size = { ...figures.size, ...defined({ after: outcome?.tokensAfter }) }
  ports.emit({ type: 'compaction-progressed', phase: 'hooks-after' })
  const after = await runHooks(run, {
    event: 'PostCompact',
    trigger: job.trigger,
    summary: assembled.summary,
    tokensBefore: size.before,
    tokensAfter: size.after,
    fidelity: page.report,
  })
  return {
    type: 'compacted',
    records,
    messages: assembled.messages,
    summary: assembled.summary,
    boundaryUuid: boundary,
    summaryUuid: summary,
    keptUuids: plan.parts.keptUuids,
    ...figures,
    size,
    tried,
    fidelity: page.report,
    ledger,
    restored: assembled.restored,
    notices,
    contextAfter: after.context,
  }
}

/** Which part leaves no room, and what a person can do about it. */
function whatIsTooLarge({ job, plan }: Run, base: number): string {
  const { limit, kept, before } = plan.tokens
  if (plan.kept.length > 0 && kept > limit / 2) {
    const [which, what] = plan.parts.variant === 'from' ? ['an earlier', 'before'] : ['a later', 'after']
    const problem =
      job.trigger === 'manual'
        ? `${freesTooLittle}: the messages ${what} the chosen one stay, and have about ${formatNumber(kept)} of ${formatNumber(before)} tokens`
        : `The messages to be kept alone have about ${formatNumber(kept)} tokens, and ${formatNumber(limit)} are allowed`
    return `${problem}. Choose ${which} message, or compact everything.`
  }
  if (limit <= 0) {
    const around = job.scale.toReported(job.overhead ?? 0)
    return `The system prompt and the tools have about ${formatNumber(around)} tokens, and leave no room: remove tools or instructions, or choose a model with a larger window.`
  }
  if (job.trigger === 'manual' && job.budget === undefined) {
    return `The conversation is too short to be made smaller: it has about ${formatNumber(before)} tokens.`
  }
  return `Even the shortest summary does not fit into ${formatNumber(Math.max(0, limit - base))} tokens: allow a larger budget, choose a model with a larger window, or start a new conversation.`
}
