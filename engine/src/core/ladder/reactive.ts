// Recovery when the provider says that a prompt is too long: the smallest step that should be enough, then the request
// once more. The failure itself is withheld by the caller until this has an answer.
import { reductionSettings } from '../mechanisms/settings.ts'
import type { Tried } from '../ports/events.ts'
import type { AbortSignalPort, ModelFailure, ModelRequest } from '../ports/model.ts'
import { type Desk, explainDesk, situationIn, whyCompactionIsOff, withSize } from '../session/desk.ts'
import { withRecovery, withViewChange } from '../session/tracking.ts'
import { buildRequest } from '../session/turn-request.ts'
import { inWords } from '../tokens/figure.ts'
import { climb } from './climb.ts'
import { type CompactionDone, compactNow, contextFor, withFreed } from './compaction.ts'
import { mediaRefused } from './media.ts'
import { hasAllowed, noCommit } from './prepare.ts'
import { shortenUnseen } from './unseen.ts'
import { learnLimit } from './window-ends.ts'

export type Recovery =
  | {
      readonly type: 'recovered'
      readonly request: ModelRequest
      readonly steps: readonly Tried[]
      readonly compaction?: CompactionDone
    }
  | { readonly type: 'unrecovered'; readonly failure: ModelFailure; readonly steps: readonly Tried[] }

/** Less room for an answer than this is no answer. */
const leastOutput = 1_024

type Attempt = {
  readonly desk: Desk
  readonly failure: ModelFailure
  readonly signal: AbortSignalPort | undefined
  readonly steps: Tried[]
}

/** What to send now; undefined when this step is not enough. */
type Remedy = { readonly request: ModelRequest; readonly compaction?: CompactionDone }

type Step = (attempt: Attempt) => Promise<Remedy | undefined>

/** In this order; the first that yields a request ends it. */
const stepsInOrder: readonly Step[] = [lowerOutput, stripMedia, clearResults, shortenNew, compactAll]

export async function recover(
  desk: Desk,
  failure: ModelFailure,
  options: { readonly signal?: AbortSignalPort | undefined } = {},
): Promise<Recovery> {
  const steps: Tried[] = []
  if (failure.reason !== 'overflow' && failure.reason !== 'too-large') return { type: 'unrecovered', failure, steps }
  const limit = failure.reason === 'overflow' ? failure.overflow?.limit : undefined
  if (limit !== undefined) learnLimit(desk, { limit })
  const off = whyCompactionIsOff(desk)
  for (const step of off === undefined ? stepsInOrder : [lowerOutput]) {
    const remedy = await step({ desk, failure, signal: options.signal, steps })
    if (remedy) return { type: 'recovered', ...remedy, steps }
  }
  if (off !== undefined) steps.push({ mechanism: 'compact', outcome: 'declined', why: off })
  return { type: 'unrecovered', failure, steps }
}

/** Told by the caller once it knows whether the request went through. */
export function tellRecovery(desk: Desk, steps: readonly Tried[], isRecovered: boolean): void {
  const names = steps.map(({ mechanism, outcome }) => `${mechanism}: ${outcome}`)
  if (!isRecovered) desk.emit({ type: 'overflow-unrecovered', steps: names })
  else {
    const { tokens } = situationIn(desk, desk.conversation.view()).explanation.size
    desk.emit({ type: 'overflow-recovered', steps: names, tokens })
  }
}

/** Input and output together were too much: less output may be all it takes. */
async function lowerOutput({ desk, failure, steps }: Attempt): Promise<Remedy | undefined> {
  const { actual, limit, maxTokens } = failure.overflow ?? {}
  if (actual === undefined || limit === undefined || maxTokens === undefined) return undefined
  const room = limit - actual
  if (room < leastOutput) {
    steps.push({
      mechanism: 'lower-output',
      outcome: 'declined',
      why: `Only ${inWords(Math.max(0, room))} tokens are left.`,
    })
    return undefined
  }
  steps.push({
    mechanism: 'lower-output',
    outcome: 'done',
    why: `${inWords(maxTokens)} → ${inWords(room)} tokens of output.`,
  })
  return { request: { ...currentRequest(desk), maxTokens: room } }
}

async function stripMedia({ desk, failure, steps }: Attempt): Promise<Remedy | undefined> {
  if (failure.reason !== 'too-large') return undefined
  const edits = mediaRefused(desk.conversation.view(), desk.weigher, failure)
  if (edits.length === 0) {
    steps.push({ mechanism: 'strip-media', outcome: 'declined', why: 'There are no images or documents.' })
    return undefined
  }
  apply(desk, edits)
  steps.push({ mechanism: 'strip-media', outcome: 'done', why: 'Images and documents left the context.' })
  return { request: currentRequest(desk) }
}

/** Old results, however few; enough when it covers the gap that the provider named. */
async function clearResults({ desk, failure, signal, steps }: Attempt): Promise<Remedy | undefined> {
  const wish = { stage: 'every-request', trigger: 'auto', cause: 'overflow', signal } as const
  const context = contextFor(desk, wish, noCommit)
  const settings = reductionSettings({
    ...desk.settings.reductions,
    microCompact: desk.settings.reductions?.microCompact === false ? false : 'always',
    bySize: { ...desk.settings.reductions?.bySize, target: 0, least: 0 },
  })
  const situation = { ...context.situation, settings, client: { cacheEdits: false, contextManagement: false } }
  const { solution, tried } = await climb(desk.ladder['every-request'], { ...context, situation }, () => undefined)
  steps.push(...tried)
  if (solution?.type !== 'reduced') return undefined
  apply(desk, withFreed(solution.edits, solution.freed))
  return coversGap(desk, failure, solution.freed) ? { request: currentRequest(desk) } : undefined
}

/** Results that are larger than a window, and that no answer has seen. */
async function shortenNew({ desk, failure, steps }: Attempt): Promise<Remedy | undefined> {
  const tokens = () => explainDesk(desk).size.tokens
  const before = tokens()
  const done = shortenUnseen(desk)
  steps.push(...done)
  const isEnough = done.length > 0 && coversGap(desk, failure, before - tokens())
  return isEnough ? { request: currentRequest(desk) } : undefined
}

/** Our count of what was freed may be off; a gap that is only just covered is no room to work in. */
function coversGap(desk: Desk, { overflow }: ModelFailure, freed: number): boolean {
  const { actual, limit } = overflow ?? {}
  const gap = actual !== undefined && limit !== undefined ? actual - limit : undefined
  return gap !== undefined && freed >= gap * 1.25 && !explainDesk(desk).isAboveThreshold
}

async function compactAll({ desk, signal, steps }: Attempt): Promise<Remedy | undefined> {
  // What was cleared just now may have been enough, whether or not a compaction follows: where the provider named no
  // numbers, only sending again can tell. A request that is refused once more costs nothing.
  const isSmaller = steps.some(({ outcome }) => outcome === 'done')
  const why = await whyNotCompact(desk, signal)
  if (why !== undefined) {
    steps.push({ mechanism: 'compact', outcome: 'declined', why })
    return isSmaller ? { request: currentRequest(desk) } : undefined
  }
  desk.tracking = withRecovery(desk.tracking)
  const outcome = await compactNow(desk, { stage: 'overflow', trigger: 'auto', cause: 'overflow', signal })
  steps.push(...outcome.tried)
  if (outcome.type === 'compacted') return { request: currentRequest(desk), compaction: outcome }
  return isSmaller && outcome.reason !== 'aborted' ? { request: currentRequest(desk) } : undefined
}

function currentRequest(desk: Desk): ModelRequest {
  return buildRequest(desk, desk.conversation.view()).request
}

async function whyNotCompact(desk: Desk, signal: AbortSignalPort | undefined): Promise<string | undefined> {
  const { explanation } = situationIn(desk, desk.conversation.view())
  const { autoCompact } = explanation
  if (autoCompact.mode === false) return `Auto-compact is off: ${autoCompact.source}.`
  // Once even then: the provider takes no more, and without a compaction the conversation would be stuck.
  const { isOpen, hasRecovered } = desk.tracking.breaker
  if (isOpen && hasRecovered) return 'Automatic compaction has stopped for this conversation.'
  if (autoCompact.mode !== 'ask') return undefined
  if (!desk.tracking.isRefused && (await hasAllowed(desk, explanation, signal))) return undefined
  desk.tracking = { ...desk.tracking, isRefused: true }
  return 'It was asked for, and not allowed.'
}

function apply(desk: Desk, edits: Parameters<Desk['conversation']['edit']>[0]): void {
  desk.conversation.edit(withSize(desk, edits))
  desk.tracking = withViewChange(desk.tracking)
}
