// When notes are due: after enough has happened, at a natural pause. Pure.

export type MemorySettings = {
  readonly isOn: boolean
  /** Tokens that the conversation must have before the first extraction. */
  readonly first: number
  /** Tokens grown since the last. */
  readonly growth: number
  readonly toolCalls: number
}

export const defaultMemory: MemorySettings = { isOn: true, first: 10_000, growth: 5_000, toolCalls: 3 }

/** What is remembered between extractions. */
export type MemoryProgress = {
  /** Size of the context at the last extraction; undefined before the first. */
  readonly tokens?: number
  /** The last message that the notes know of: the last summarized message. */
  readonly lastSeen?: string
  readonly toolCallsSince: number
  readonly failures: number
}

export const noProgress: MemoryProgress = { toolCallsSince: 0, failures: 0 }

/** After so many failures in a row it is not tried again in this session. */
export const mostFailures = 3

export type TurnSeen = {
  readonly tokens: number
  /** Whether the turn that just ended had tool calls. */
  readonly hadToolCalls: boolean
}

export function isDue(progress: MemoryProgress, turn: TurnSeen, settings: MemorySettings = defaultMemory): boolean {
  if (!settings.isOn || progress.failures >= mostFailures) return false
  const grown =
    progress.tokens === undefined ? turn.tokens - settings.first : turn.tokens - progress.tokens - settings.growth
  return grown >= 0 && (progress.toolCallsSince >= settings.toolCalls || !turn.hadToolCalls)
}

export function afterExtraction({
  tokens,
  lastSeen,
}: {
  readonly tokens: number
  readonly lastSeen: string | undefined
}): MemoryProgress {
  return { tokens, ...(lastSeen === undefined ? {} : { lastSeen }), toolCallsSince: 0, failures: 0 }
}

/** Retried at the next trigger. */
export function afterFailure(progress: MemoryProgress): MemoryProgress {
  return { ...progress, failures: progress.failures + 1 }
}

/** The context is small again, and what the notes had seen is out of it. */
export function afterCompaction(progress: MemoryProgress, tokens: number): MemoryProgress {
  const { lastSeen: _, ...rest } = progress
  return { ...rest, tokens, toolCallsSince: 0 }
}
