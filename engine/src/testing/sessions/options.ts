// Options of a generated session, and the plan with its defaults.
import { type ClientStyle, modelOf } from './style.ts'

/** Where kept messages are in the file. */
export const keptLayouts = [
  'none', // boundary, summary
  'before', // kept lines before the boundary; the next line's parent is the summary
  'before-parent-is-tail', // the same, but the next line's parent is the last kept line
  'after', // kept lines after the summary
] as const
export type KeptLayout = (typeof keptLayouts)[number]

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
  /** The context size before each boundary. Default: the context grows with the conversation. */
  readonly windowTokens?: number
}

export type Plan = Required<Omit<SessionOptions, 'windowTokens' | 'targetBytes'>> &
  Pick<SessionOptions, 'windowTokens' | 'targetBytes'> & {
    /** Longest file or output. */
    readonly largest: number
  }

export function planOf(options: SessionOptions): Plan {
  const { targetBytes, style = '2.1-late' } = options
  const boundaries = options.boundaries ?? Math.floor((targetBytes ?? 0) / 3_000_000)
  return {
    kept: 'none',
    subagents: 'none',
    progress: style === '2.1-early',
    images: false,
    thinking: 0.4,
    parallel: 0.25,
    interrupted: 0,
    microcompact: false,
    model: modelOf(style),
    startTime: '2026-03-02T09:00:00.000Z',
    human: [],
    ...(targetBytes === undefined || boundaries === 0 ? {} : { windowTokens: 200_000 }),
    ...options,
    style,
    boundaries,
    turns: Math.max(options.turns ?? 6, boundaries + 1),
    largest: targetBytes === undefined ? 12_000 : Math.min(Math.max(Math.floor(targetBytes / 80), 1_500), 200_000),
  }
}
