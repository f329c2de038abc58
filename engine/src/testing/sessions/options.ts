// Options of a generated session, and the plan with its defaults.
import { type ClientStyle, modelOf } from './style.ts'

/** Where kept messages are in the file. */
export type KeptLayout =
  | 'none' // boundary, summary
  | 'before' // kept lines before the boundary; the next line's parent is the summary
  | 'before-parent-is-tail' // the same, but the next line's parent is the last kept line
  | 'after' // kept lines after the summary

export const keptLayouts: readonly [KeptLayout, ...KeptLayout[]] = ['none', 'before', 'before-parent-is-tail', 'after']

export type SessionOptions = {
  readonly seed: number
  readonly style?: ClientStyle
  /** Ignored if targetBytes is given. */
  readonly turns?: number
  readonly boundaries?: number
  /** File size in characters, which is its bytes but for a percent of non-ASCII. */
  readonly targetBytes?: number
  readonly kept?: KeptLayout
  readonly subagents?: 'none' | 'inline'
  /** Default: true for 2.1-early. */
  readonly progress?: boolean
  readonly images?: boolean
  /** Probability of thinking in an answer. */
  readonly thinking?: number
  /** Probability of several calls in an answer. */
  readonly parallel?: number
  /** Probability that a turn ends with a call without a result. */
  readonly interrupted?: number
  readonly microcompact?: boolean
  readonly model?: string
  /** ISO time. */
  readonly startTime?: string
  /** Custom prompts, repeated when they run out. */
  readonly human?: readonly string[]
  /** The context size before each boundary. Default: the context grows by what is said. */
  readonly windowTokens?: number
}

export type Plan = Required<Omit<SessionOptions, 'windowTokens' | 'targetBytes'>> & {
  readonly targetBytes?: number
  readonly windowTokens?: number
  /** Longest file or output. */
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
