// One compaction, in order: plan, hooks, ask, check, restore, compose, assemble, write, hooks. Used by manual, automatic and
// reactive, full and partial compactions. Nothing changes until the records are written.
import { costOf } from '../cache/economics.ts'
import type { Exchange, Ledger } from '../ledger/facts.ts'
import { defined } from '../message/json.ts'
import { noTokens, totalOf } from '../message/usage.ts'
import type { CompactionPhase } from '../ports/events.ts'
import { type HookCall, type HookOutcome, runHooks } from '../ports/hooks.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import { type Failed, failed, isFailed, type Spent, stopped } from '../ports/outcome.ts'
import { applyCompaction, type CompactionPorts, withEvents } from '../ports/ports.ts'
import { type Restoration, withoutSecretsFor } from '../ports/restore.ts'
import { untilAborted } from '../ports/safely.ts'
import { describeWorkspace } from '../ports/workspace.ts'
import { freesTooLittle } from '../tokens/context-size.ts'
import { formatNumber } from '../tokens/figure.ts'
import { askForSummary, type Question } from './ask/ask.ts'
import { note } from './ask/asker.ts'
import { type Assembled, assemble, type ContextFrame, frameOf, promisedTokens, restoreWithin } from './assemble.ts'
import type { Checked, CheckInput } from './check.ts'
import { emptyPage, nextIn, type Page } from './compose.ts'
import { type CompactionRun, historyOf, ledgerInput } from './history.ts'
import type { Compaction, CompactionJob } from './job.ts'
import { isSaid, isSameWords, shortened, wordsText } from './page/complete-words.ts'
import { planCompaction, withSizes } from './plan.ts'
import { type Draft, figuresOf, recordsOf, type WrittenSummary } from './records.ts'
import { type PageTask, perform } from './tasks.ts'

export type RunOptions = {
  readonly signal?: AbortSignalPort | undefined
  /** Writes all records or none. Default: only returns them. */
  readonly write?: (compaction: Compaction) => Promise<Compaction | Failed>
}

/** One compaction without a session. */
export function runCompaction(
  job: CompactionJob,
  ports: CompactionPorts,
  { signal, write = async (compaction) => compaction }: RunOptions = {},
): Promise<Compaction | Failed> {
  const sized = withSizes(job)
  return withEvents({ ...sized, ports }, async () => {
    const made = await makeCompaction(sized, ports, signal)
    if (made.type === 'failed') return made
    const result = await applyCompaction(made, { trigger: job.trigger, ports, signal, write })
    return result.type === 'failed' ? { ...spentOn(made), ...result, tried: made.tried } : result
  })
}

/** Everything up to the records. Writes nothing. */
export async function makeCompaction(
  given: CompactionJob,
  ports: CompactionPorts,
  signal?: AbortSignalPort,
): Promise<Compaction | Failed> {
  const started = ports.now()
  const job = withSizes(given)
  const plan = planCompaction(job, ports.model)
  if (plan.type === 'failed') return plan
  await ports.pause?.()
  const history = historyOf(job)
  const run: CompactionRun = {
    job,
    plan,
    history,
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
  const { tried, notices, usage } = run
  const cost = totalOf(usage) === 0 ? undefined : costOf(usage, plan.model)
  return { ...result, tried, notices, ...spentOn({ ...run, cost }) }
}

function spentOn({ usage, cost, hitRate, attempts }: Spent): Spent {
  return { usage, attempts, ...defined({ cost, hitRate }) }
}

async function steps(run: CompactionRun): Promise<Compaction | Failed> {
  const { job, plan, history } = run
  const { summarized, variant } = plan.parts
  const { limit } = plan.tokens
  if (isStoppedBefore(run, 'hooks-before')) return stopped
  const { trigger } = job
  const hooks = await hooksOf(run, { event: 'PreCompact', trigger, instructions: job.instructions ?? '' })
  if (hooks.veto !== undefined) return failed('vetoed', hasText(hooks.veto) ? hooks.veto : 'A hook said no.')
  const instructions = [job.instructions ?? '', ...hooks.instructions].filter(hasText).join('\n\n')
  const { pause } = run.ports
  const ledger = await perform(run, 'read-ledger', ledgerInput(history, job, summarized))
  if (isFailed(ledger)) return ledger
  const all = variant === 'from' ? [...plan.kept, ...summarized] : [...summarized, ...plan.kept]
  const isWhole = plan.kept.length === 0
  const whole = isWhole ? ledger : await perform(run, 'read-ledger', ledgerInput(history, job, all))
  if (isFailed(whole)) return whole
  await pause?.()
  const frame = frameOf(job, plan, whole)
  if (isStoppedBefore(run, 'summarizing')) return stopped
  // If there is no room for the text around a summary, there is none for a summary either, so no model is paid.
  const minSize = frame.sizeWith(frame.summaryWith('', { isShort: true }))
  if (minSize > limit) return failed('no-progress', whatIsTooLarge(run, frame.sizeWith('')))
  const tooSmall = asksModel(run, hooks.summary) ? tooSmallToGain(run, ledger, frame) : undefined
  if (tooSmall !== undefined) return failed('no-progress', tooSmall)
  const availableTokens = limit - frame.sizeWith(frame.summaryWith(''))
  const written = await getSummary(run, hooks.summary, { instructions, availableTokens })
  if (written.type === 'failed') return written
  await pause?.()
  if (isStoppedBefore(run, 'verifying')) return stopped
  const checked = await checkedText(run, written.text, { messages: all, ledger })
  if (isFailed(checked)) return checked
  const input: PageTask['input'] = {
    checked,
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
  }
  await pause?.()
  if (isStoppedBefore(run, 'restoring')) return stopped
  const next = nextIn(input)
  const restored = await restore(run, { next, tokens: plan.tokens.limitOfRestored })
  if (!restored) return stopped
  const promised = promisedTokens(restored, run)
  const room = limit - promised
  const fitted = await fitPage(run, input, { frame, room })
  if (isFailed(fitted)) return fitted
  const assembled = await restoreAndAssemble(run, { frame, restored, promised, next, ...fitted })
  if (isFailed(assembled)) return assembled
  await pause?.()
  // Kept messages before the summary are older than the summarized ones, so the carried facts must include them in order.
  const carried = variant === 'from' ? whole : ledger
  return finish(run, { summary: written, instructions, ledger: carried, page: fitted.page, assembled })
}

/** Checked before redaction, because a quotation without its secret is in no message. */
async function checkedText(
  run: CompactionRun,
  written: string | undefined,
  input: CheckInput,
): Promise<Checked | Failed | undefined> {
  if (written === undefined) return undefined
  const checked = await perform(run, 'check-summary', { written, ...input })
  return isFailed(checked) ? checked : withoutSecretsIn(checked, run.ports)
}

function withoutSecretsIn({ text, ...found }: Checked, { redact }: CompactionPorts): Checked {
  const clean = withoutSecretsFor(redact)
  const lists = Object.entries(found).map(([name, texts]) => [name, texts.map(clean)])
  return { text: clean(text), ...(Object.fromEntries(lists) as typeof found) }
}

/** Share of the replaced messages. Otherwise a manual compaction of a short conversation would free little. */
const maxReplacedShare = 0.5

/** The set value, otherwise from the budget of the whole context, otherwise from the window. */
function handoverOf({ job, plan }: CompactionRun): number {
  const { handover, summarized } = plan.tokens
  return plan.settings.handoverTokens ?? job.budget ?? Math.min(handover, summarized * maxReplacedShare)
}

/** Read now. Undefined if there is no workspace or its state is unknown. */
async function workspaceNow({ plan, ports, signal }: CompactionRun): Promise<string | undefined> {
  const time = plan.parts.summarized.find((message) => message.time !== undefined)?.time
  const state = await ports.workspace?.state({ since: time === undefined ? undefined : { time }, signal })
  return state?.type === 'state' ? describeWorkspace(state) : undefined
}

function hasText(text: string): boolean {
  return text.trim() !== ''
}

/** Returns true if it was stopped; otherwise announces the phase. */
function isStoppedBefore({ ports, signal }: CompactionRun, phase: CompactionPhase): boolean {
  if (signal?.aborted) return true
  ports.emit({ type: 'compaction-progressed', phase })
  return false
}

async function hooksOf({ ports, notices, signal }: CompactionRun, call: HookCall): Promise<HookOutcome> {
  const outcome = await runHooks(ports, call, signal)
  notices.push(...outcome.messages)
  return outcome
}

/** `given` is a hook's summary. */
function asksModel({ job, ports }: CompactionRun, given = ''): boolean {
  return !hasText(given) && job.given === undefined && ports.model.provider !== 'offline'
}

/** Nine sections, each with its title and a sentence of about 25 words. */
const minSummaryTokens = 300

/**
 * The reason not to pay a model. A manual compaction must free a tenth of the whole context, and only the conversation can get
 * smaller. If the system prompt and the tools are the larger part, the user's own words and the shortest useful summary may not
 * fit into the rest.
 */
function tooSmallToGain(
  { job, plan, history }: CompactionRun,
  ledger: Ledger,
  frame: ContextFrame,
): string | undefined {
  const { before, limit } = plan.tokens
  const isByHand = job.trigger === 'manual' && job.budget === undefined && plan.kept.length === 0
  if (!isByHand || (job.overhead ?? 0) <= before) return undefined
  const isOwn = (exchange: Exchange) => isSaid(exchange) && exchange.last >= history.carried.messages
  const said = ledger.exchanges.filter((exchange) => isOwn(exchange) && !isSameWords(exchange, frame.closes))
  const lines = said.map((exchange) => `- ${wordsText(exchange, { recall: job.recall === true, most: shortened })}`)
  const needed = frame.sizeWith(frame.summaryWith(lines.join('\n'))) + minSummaryTokens
  if (needed <= limit) return undefined
  return `The conversation is too small to gain from a compaction: of its about ${formatNumber(before)} tokens, the user’s words and a short summary would need about ${formatNumber(needed)}.`
}

async function getSummary(
  run: CompactionRun,
  given: string | undefined,
  question: Question,
): Promise<WrittenSummary | Failed> {
  const { job, plan, ports, signal } = run
  const { offline } = plan.settings
  const without = (mechanism: string, why: string, text?: string): WrittenSummary => {
    note(run, { mechanism, outcome: 'done', why })
    return { type: 'summary', mechanism, ...defined({ text }) }
  }
  if (given !== undefined && hasText(given)) return without('hook', 'a hook gave the summary', given)
  if (job.given) return without(job.given.mechanism, job.given.why, job.given.text)
  // A recorded model needs no network either, but it has a summary.
  if (ports.model.provider === 'offline') return without('offline', 'no model is asked')
  const result = await askForSummary(run, question)
  if (signal?.aborted) return stopped
  if (result.type === 'summary' || result.reason === 'aborted') return result
  const { reason, why } = result
  const isOverflow = reason === 'prompt-too-long' || job.reason === 'overflow'
  const mayBeOffline = offline === 'always' || (offline === 'overflow' && isOverflow)
  return mayBeOffline ? without('offline', `no model could write it: ${why}`) : failed(reason, why)
}

/** Undefined if it was stopped, because host code may hang. */
function restore(
  { job, plan, signal }: CompactionRun,
  { next, tokens }: { readonly next: string; readonly tokens: number },
) {
  return untilAborted(restoreWithin({ job, plan, next }, tokens), signal)
}

type RestoredSoFar = {
  readonly frame: ContextFrame
  readonly restored: Restoration
  /** Tokens that pinned items and the plan always get. */
  readonly promised: number
  readonly next: string
}
type Fitting = { readonly frame: ContextFrame; readonly room: number }
type FittedPage = { readonly page: Page; readonly isShort: boolean }

/**
 * The page within the limit, without the text around it if that does not fit. If the budget is too small even for that, only the
 * latest request is left.
 */
async function fitPage(
  run: CompactionRun,
  input: PageTask['input'],
  { frame, room }: Fitting,
): Promise<FittedPage | Failed> {
  const { counting = {}, budget } = run.job
  for (const isShort of [false, true]) {
    const around = frame.sizeWith(frame.summaryWith('', { isShort }))
    if (around >= room) continue
    // The text around the page and the latest request belong to the handover, but leave at least half of it to the page.
    const handoverTokens = Math.max(input.handoverTokens - around, input.handoverTokens / 2)
    for (const share of [1, 0.95, 0.85]) {
      await run.ports.pause?.()
      const tokens = Math.floor((room - around) * share)
      const page = await perform(run, 'compose-page', { input: { ...input, handoverTokens }, counting, tokens })
      if (isFailed(page)) return page
      if (page && frame.sizeWith(frame.summaryWith(page.text, { isShort })) <= room) return { page, isShort }
    }
  }
  const alone = frame.summaryWith('', { isShort: true })
  const isUsable = budget !== undefined && alone !== '' && frame.sizeWith(alone) <= room
  if (isUsable) return { page: emptyPage, isShort: true }
  return failed('no-progress', whatIsTooLarge(run, frame.sizeWith('')))
}

async function restoreAndAssemble(
  run: CompactionRun,
  { frame, page, isShort, restored: all, promised, next }: FittedPage & RestoredSoFar,
): Promise<Assembled | Failed> {
  const { ports, signal, plan } = run
  const { limit, limitOfRestored } = plan.tokens
  const left = Math.max(promised, limitOfRestored - frame.sizeWith(frame.summaryWith(page.text, { isShort })))
  // If the page left too little room for everything, chooses and cuts the files again for the remaining room.
  const restored = all.tokens <= left ? all : await restore(run, { next, tokens: left })
  if (!restored) return stopped
  const { context } = await hooksOf(run, { event: 'SessionStart', source: 'compact' })
  if (signal?.aborted) return stopped
  const assembled = assemble(frame, { page: page.text, isShort, restored, context: context.filter(hasText), limit })
  if (assembled.tokens > limit) return failed('no-progress', 'What hooks added leaves no room: have them say less.')
  for (const { path, tokens } of assembled.restored.pieces) {
    if (path !== undefined) ports.emit({ type: 'file-restored', path, tokens })
  }
  for (const { what, why } of assembled.restored.notRestored) {
    ports.emit({ type: 'file-not-restored', path: what, reason: why })
  }
  return assembled
}

function finish(run: CompactionRun, draft: Draft): Compaction | Failed {
  const { plan, tried, notices } = run
  const { ledger, page, assembled } = draft
  if (isStoppedBefore(run, 'committing')) return stopped
  const figures = figuresOf(run, draft)
  const { records, boundary, summary } = recordsOf(run, draft, figures)
  return {
    type: 'compacted',
    records,
    messages: assembled.messages,
    summary: assembled.summary,
    ...defined({ request: assembled.request }),
    boundaryUuid: boundary,
    summaryUuid: summary,
    keptUuids: plan.parts.keptUuids,
    ...figures,
    tried,
    fidelity: page.report,
    ledger,
    restored: assembled.restored,
    notices,
    contextAfter: [],
  }
}

/** The part that leaves no room, and advice for the person. */
function whatIsTooLarge({ job, plan }: CompactionRun, base: number): string {
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
