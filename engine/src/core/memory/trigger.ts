// When notes are due: after enough has happened, at a natural pause. Pure.
import { defined } from '../message/json.ts'
import { defaultSettings } from '../settings/resolve.ts'
import type { Settings } from '../settings/table.ts'

export type MemoryProgress = {
  /** Size of the context at the last extraction; undefined before the first. */
  readonly tokens?: number
  /** The last message that the notes know of: the last summarized message. */
  readonly lastSeen?: string
  readonly failures: number
}

export const noProgress: MemoryProgress = { failures: 0 }

/** After so many failures in a row it is not tried again in this session. */
export const mostFailures = 3

export function isDue(
  progress: MemoryProgress,
  turn: {
    readonly tokens: number
    /** Since the last extraction. */
    readonly toolCalls: number
    readonly hadToolCalls: boolean
  },
  settings: Settings['sessionMemory'] = defaultSettings.sessionMemory,
): boolean {
  if (!settings.isOn || progress.failures >= mostFailures) return false
  const due = progress.tokens === undefined ? settings.minTokens : progress.tokens + settings.growth
  return turn.tokens >= due && (turn.toolCalls >= settings.toolCalls || !turn.hadToolCalls)
}

type Extracted = { readonly tokens: number; readonly lastSeen: string | undefined }

export function afterExtraction({ tokens, lastSeen }: Extracted): MemoryProgress {
  return { tokens, ...defined({ lastSeen }), failures: 0 }
}

export function afterFailure(progress: MemoryProgress): MemoryProgress {
  return { ...progress, failures: progress.failures + 1 }
}

/** The context is small again, and what the notes had seen is out of it. */
export function afterCompaction(progress: MemoryProgress, tokens: number): MemoryProgress {
  const { lastSeen: _, ...rest } = progress
  return { ...rest, tokens }
}
