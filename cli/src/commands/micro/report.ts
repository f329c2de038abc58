// `everlong micro`: what each reduction without a model would do to a session now, its savings and its cost in cache. A dry run,
// unless --apply saves the originals next to the session and appends the edits.
import {
  type CacheState,
  type ContextSize,
  compactionOff,
  type DeclineReason,
  type ExplainedReduction,
  explainReductions,
  type PlannedItem,
  type ReductionChoices,
  type RequestOptions,
  reductions,
  type SituationInput,
  situationOf,
  type ThinkingOutcome,
  type Worth,
  worthInWords,
} from 'everlong/internal/compaction'
import { applyEdits, originalResults, type ReadFile, type StoredResults } from 'everlong/internal/node'
import type { Edit } from 'everlong/mechanisms'
import type { Io } from '../../io.ts'
import { failed, type Outcome, opening, orNoTranscript } from '../../outcome.ts'
import { countingOf, explainFile, openFile, type WindowChoice } from '../../session.ts'

export type MicroOptions = WindowChoice & {
  /** By name, with or without `micro-`. Default: all. */
  readonly mechanism?: readonly string[]
  /** The time to plan with. Default: now. */
  readonly now?: number
  readonly keep?: number
  readonly target?: number
  readonly minFreed?: number
  readonly turns?: number
  readonly always?: boolean
  readonly recall?: boolean
  readonly apply?: boolean
}

export type MicroReport = {
  readonly path: string
  readonly model: string | undefined
  readonly now: number
  readonly size: ContextSize
  /** The size at which micro-compaction by size begins. */
  readonly warning: number
  readonly cache: CacheState
  readonly reductions: readonly MicroReduction[]
  readonly applied: MicroApplied | undefined
}

export type MicroReduction = {
  readonly mechanism: string
  readonly type: 'planned' | 'declined'
  readonly why: DeclineReason | undefined
  /** Why it would or would not act, as a sentence. */
  readonly reason: string
  /** Edits of the transcript, or options of the next request, which cannot be applied to a file. */
  readonly way: 'edits' | 'request' | undefined
  readonly freed: number
  readonly thinking: ThinkingOutcome | undefined
  readonly items: readonly PlannedItem[]
  readonly edits: readonly Edit[]
  readonly request: RequestOptions | undefined
  readonly worth: Worth | undefined
  /** The balance as a sentence. */
  readonly sum: string | undefined
}

export type MicroApplied = {
  readonly mechanism: string
  /** The appended entries. */
  readonly uuids: readonly string[]
  readonly freed: number
  readonly size: ContextSize
  readonly stored: Extract<StoredResults, { readonly type: 'stored' }>
}

type Asked = MicroOptions & { readonly io: Io }

export async function gather(path: string, asked: Asked): Promise<Outcome<MicroReport>> {
  let file: ReadFile | undefined
  const planned = await opening(path, async () => {
    file = await openFile(path, { ...asked, env: asked.io.env })
    const report = plan(file, asked)
    const { bytes, view } = file.transcript
    return orNoTranscript(report, { path, bytes, isTranscript: view.messages.length > 0 })
  })
  if (!asked.apply || !file || planned.type === 'failed' || planned.exitCode !== 0) return planned
  const off = compactionOff({ environment: asked.io.env })
  if (off !== undefined) return failed(`${off} Unset it to clear anything.`)
  return apply(file, planned.report, asked)
}

/** The problem with the names on the command line. Undefined if there is none. */
export function unknownMechanism(names: readonly string[] = []): string | undefined {
  const known = reductions.map(({ name }) => shortName(name))
  const unknown = names.find((name) => !known.includes(shortName(name)))
  return unknown === undefined ? undefined : `argument '${unknown}' is invalid. Choose from ${known.join(', ')}.`
}

export function shortName(name: string): string {
  return name.replace(/^micro-/, '')
}

function plan(file: ReadFile, asked: Asked): MicroReport {
  const { view, path } = file.transcript
  const now = asked.now ?? asked.io.now()
  const explanation = explainFile(file, asked)
  const { model, warning, size } = explanation
  const names = asked.mechanism?.map(shortName)
  const chosen = reductions.filter(({ name }) => names === undefined || names.includes(shortName(name)))
  const input: SituationInput = {
    ...countingOf(file.transcript, explanation),
    explanation,
    now,
    ...(asked.turns === undefined ? {} : { expectedTurns: asked.turns }),
    reductions: choicesOf(asked),
  }
  const local = situationOf(view, input)
  const remote = situationOf(view, { ...input, client: { contextManagement: true }, weigher: local.weigher })
  // A file has no client with abilities, so mechanisms that edit the transcript are planned like --apply, and the others for the
  // public API.
  const explained = chosen.flatMap((mechanism) =>
    explainReductions(view, mechanism.asksServer ? remote : local, [mechanism]),
  )
  return {
    path,
    model,
    now,
    size,
    warning: warning.value,
    cache: local.cache,
    reductions: explained.map(reductionOf),
    applied: undefined,
  }
}

function choicesOf({ keep, target, minFreed, always, recall }: MicroOptions): ReductionChoices {
  const kept = keep === undefined ? {} : { keep }
  return {
    ...(always ? { microCompact: 'always' } : {}),
    ...(recall ? { recall: true } : {}),
    bySize: {
      ...kept,
      ...(target === undefined ? {} : { target }),
      ...(minFreed === undefined ? {} : { minFreed }),
    },
    byIdle: kept,
    byCacheEdit: kept,
  }
}

function reductionOf({ mechanism, outcome, worth }: ExplainedReduction): MicroReduction {
  const sum = worth && worthInWords(worth)
  if (outcome.type === 'declined') {
    const { reason: why, why: reason } = outcome
    return { mechanism, type: 'declined', why, reason, ...nothing, worth, sum }
  }
  const { why: reason, freed, thinking } = outcome
  const items = outcome.items.map((item) => ({ ...item, frees: Math.round(item.frees) }))
  const edits = outcome.type === 'reduced' ? outcome.edits : []
  const request = outcome.type === 'delegated' ? outcome.request : undefined
  const way = request ? 'request' : 'edits'
  const shown = { freed, thinking, items, edits, request, way } as const
  return { mechanism, type: 'planned', why: undefined, reason, ...shown, worth, sum }
}

const nothing = { freed: 0, thinking: undefined, items: [], edits: [], request: undefined, way: undefined } as const

async function apply({ transcript }: ReadFile, report: MicroReport, asked: Asked): Promise<Outcome<MicroReport>> {
  const chosen = report.reductions.find(({ way }) => way === 'edits')
  if (!chosen) return { type: 'gathered', report, exitCode: 1, complaint: whyNothing(report) }
  const applied = await applyEdits(transcript, chosen.edits, {
    owner: 'everlong micro',
    now: asked.io.now(),
    results: originalResults(transcript, chosen.items),
  })
  if (applied.type === 'not-applied') {
    return { type: 'gathered', report, exitCode: 1, complaint: `nothing was changed. ${applied.why}` }
  }
  const { uuids, stored } = applied
  const { mechanism, freed } = chosen
  const { size } = explainFile(await openFile(report.path, { ...asked, env: asked.io.env }), asked)
  return { type: 'gathered', report: { ...report, applied: { mechanism, uuids, freed, size, stored } }, exitCode: 0 }
}

function whyNothing({ reductions: all }: MicroReport): string {
  const [only] = all
  if (all.length === 1 && only?.way === 'request') {
    return `nothing was changed: ${shortName(only.mechanism)} is a matter of the next request, not of the file.`
  }
  return 'nothing was changed: none of these would edit the session now. Try --always, a smaller --target or --min-freed.'
}
