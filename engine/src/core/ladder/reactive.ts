// Recovery when the provider says that a prompt is too long: the smallest step that should be enough, then the request
// once more. The failure itself is withheld by the caller until this has an answer.
import { reductionSettings } from '../mechanisms/settings.ts'
import type { AbortSignalPort, ModelFailure, ModelRequest } from '../ports/model.ts'
import { inWords } from '../tokens/figure.ts'
import { climb } from './climb.ts'
import { compactNow, contextFor, withFreed } from './compaction.ts'
import { type Desk, explainDesk, situationIn, withSize } from './desk.ts'
import { mediaEdits } from './media.ts'
import { hasAllowed, noCommit } from './prepare.ts'
import { buildRequest } from './request.ts'
import type { Tried } from './rung.ts'
import { withRecovery, withViewChange } from './tracking.ts'
import { shortenUnseen } from './unseen.ts'
import { learnLimit } from './window-ends.ts'

export type Recovery =
  | { readonly type: 'recovered'; readonly request: ModelRequest; readonly steps: readonly Tried[] }
  | { readonly type: 'unrecovered'; readonly failure: ModelFailure; readonly steps: readonly Tried[] }

/** Less room for an answer than this is no answer. */
const leastOutput = 1_024

type Attempt = {
  readonly desk: Desk
  readonly failure: ModelFailure
  readonly signal: AbortSignalPort | undefined
  readonly steps: Tried[]
}

type Step = (attempt: Attempt) => Promise<ModelRequest | undefined>

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
  if (limit !== undefined) learnLimit(desk, limit)
  for (const step of stepsInOrder) {
    const request = await step({ desk, failure, signal: options.signal, steps })
    if (request) return { type: 'recovered', request, steps }
  }
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
async function lowerOutput({ desk, failure, steps }: Attempt): Promise<ModelRequest | undefined> {
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
  const { request } = buildRequest(desk, desk.conversation.view())
  return { ...request, maxTokens: room }
}

async function stripMedia({ desk, failure, steps }: Attempt): Promise<ModelRequest | undefined> {
  if (failure.reason !== 'too-large') return undefined
  const edits = mediaEdits(desk.conversation.view(), desk.weigher)
  if (edits.length === 0) {
    steps.push({ mechanism: 'strip-media', outcome: 'declined', why: 'There are no images or documents.' })
    return undefined
  }
  apply(desk, edits)
  steps.push({ mechanism: 'strip-media', outcome: 'done', why: 'Images and documents left the context.' })
  return buildRequest(desk, desk.conversation.view()).request
}

/** Old results, however few; enough when it covers the gap that the provider named. */
async function clearResults({ desk, failure, signal, steps }: Attempt): Promise<ModelRequest | undefined> {
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
  return coversGap(desk, failure, solution.freed) ? buildRequest(desk, desk.conversation.view()).request : undefined
}

/** Results that are larger than a window, and that no answer has seen. */
async function shortenNew({ desk, failure, steps }: Attempt): Promise<ModelRequest | undefined> {
  const tokens = () => explainDesk(desk).size.tokens
  if (!explainDesk(desk).manualCompact.allowed) return undefined
  const before = tokens()
  const done = shortenUnseen(desk)
  steps.push(...done)
  const isEnough = done.length > 0 && coversGap(desk, failure, before - tokens())
  return isEnough ? buildRequest(desk, desk.conversation.view()).request : undefined
}

/** Our count of what was freed may be off; a gap that is only just covered is no room to work in. */
function coversGap(desk: Desk, { overflow }: ModelFailure, freed: number): boolean {
  const { actual, limit } = overflow ?? {}
  const gap = actual !== undefined && limit !== undefined ? actual - limit : undefined
  return gap !== undefined && freed >= gap * 1.25 && !explainDesk(desk).isAboveThreshold
}

async function compactAll({ desk, signal, steps }: Attempt): Promise<ModelRequest | undefined> {
  const why = await whyNotCompact(desk)
  if (why !== undefined) {
    steps.push({ mechanism: 'compact', outcome: 'declined', why })
    return undefined
  }
  desk.tracking = withRecovery(desk.tracking)
  // What was cleared just now may have been enough: nobody can tell where the provider named no numbers.
  const isSmaller = steps.some(({ outcome }) => outcome === 'done')
  const outcome = await compactNow(desk, { stage: 'overflow', trigger: 'auto', cause: 'overflow', signal })
  steps.push(...outcome.tried)
  const isWorthIt = outcome.type === 'compacted' || (isSmaller && outcome.reason !== 'aborted')
  return isWorthIt ? buildRequest(desk, desk.conversation.view()).request : undefined
}

async function whyNotCompact(desk: Desk): Promise<string | undefined> {
  const { explanation } = situationIn(desk, desk.conversation.view())
  const { autoCompact } = explanation
  if (autoCompact.mode === false) return `Auto-compact is off: ${autoCompact.source}.`
  // Once even then: the provider takes no more, and without a compaction the conversation would be stuck.
  const { isOpen, hasRecovered } = desk.tracking.breaker
  if (isOpen && hasRecovered) return 'Automatic compaction has stopped for this conversation.'
  if (autoCompact.mode !== 'ask') return undefined
  if (!desk.tracking.isRefused && (await hasAllowed(desk, explanation))) return undefined
  desk.tracking = { ...desk.tracking, isRefused: true }
  return 'It was asked for, and not allowed.'
}

function apply(desk: Desk, edits: Parameters<Desk['conversation']['edit']>[0]): void {
  desk.conversation.edit(withSize(desk, edits))
  desk.tracking = withViewChange(desk.tracking)
}
