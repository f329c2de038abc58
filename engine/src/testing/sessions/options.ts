// What a generated session can be asked to be, and the plan that follows from it: how long, how many boundaries, when.
import { type ClientStyle, modelOf } from './style.ts'

/** Where the messages kept by a compaction lie: layouts A to D of the schema sheet. */
export type KeptLayout =
  | 'none' // A: boundary, summary, and on
  | 'before' // B: kept lines before the boundary; the next line hangs on the summary
  | 'before-parent-is-tail' // C: as B, but the next line hangs on the last kept line
  | 'after' // D: kept lines written after the summary

/** All of them, for tests that hold for every layout. */
export const keptLayouts: readonly [KeptLayout, ...KeptLayout[]] = ['none', 'before', 'before-parent-is-tail', 'after']

export type SessionOptions = {
  readonly seed: number
  readonly style?: ClientStyle
  /** Prompts typed by the human. Not read when targetBytes is given. */
  readonly turns?: number
  readonly boundaries?: number
  /** Size of the file in characters, which is its bytes but for a percent of non-ASCII. */
  readonly targetBytes?: number
  readonly kept?: KeptLayout
  readonly subagents?: 'none' | 'inline'
  /** Progress lines. They exist in 2.1-early, where the default is true. */
  readonly progress?: boolean
  readonly images?: boolean
  /** Probability that an answer starts with thinking. */
  readonly thinking?: number
  /** Probability that an answer calls several tools. */
  readonly parallel?: number
  /** Probability that a turn ends with a call that never got its result. */
  readonly interrupted?: number
  readonly microcompact?: boolean
  readonly model?: string
  /** ISO time of the first line. */
  readonly startTime?: string
  /** Own prompts; used in turn, from the first again when they run out. */
  readonly human?: readonly string[]
  /** The context grows to this before each boundary. Without it (and without targetBytes) it grows by what is said. */
  readonly windowTokens?: number
}

export type Plan = Required<Omit<SessionOptions, 'windowTokens' | 'targetBytes'>> & {
  readonly targetBytes?: number
  readonly windowTokens?: number
  /** The longest file or output. */
  readonly largest: number
}

export function planOf(options: SessionOptions): Plan {
  const { targetBytes } = options
  const style = options.style ?? '2.1-late'
  const boundaries = options.boundaries ?? Math.floor((targetBytes ?? 0) / 3_000_000)
  const windowTokens = options.windowTokens ?? (targetBytes === undefined || boundaries === 0 ? undefined : 200_000)
  return {
    seed: options.seed,
    style,
    boundaries,
    turns: Math.max(options.turns ?? 6, boundaries + 1),
    kept: options.kept ?? 'none',
    subagents: options.subagents ?? 'none',
    progress: options.progress ?? style === '2.1-early',
    images: options.images ?? false,
    thinking: options.thinking ?? 0.4,
    parallel: options.parallel ?? 0.25,
    interrupted: options.interrupted ?? 0,
    microcompact: options.microcompact ?? false,
    model: options.model ?? modelOf(style),
    startTime: options.startTime ?? '2026-03-02T09:00:00.000Z',
    human: options.human ?? [],
    largest: targetBytes === undefined ? 12_000 : Math.min(Math.max(Math.floor(targetBytes / 80), 1_500), 200_000),
    ...(targetBytes === undefined ? {} : { targetBytes }),
    ...(windowTokens === undefined ? {} : { windowTokens }),
  }
}
