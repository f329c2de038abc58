// What several commands need of a transcript: a scan with a progress line, and the file as a session. Gathers only; renders
// nothing.

import { count } from '@everlong/agent/render'
import { type Environment, offline } from 'everlong'
import { readBoundary } from 'everlong/internal'
import type { Explanation, SituationInput } from 'everlong/internal/compaction'
import { type FileScan, type ReadFile, readFile, scanFile, type Transcript } from 'everlong/internal/node'
import type { Io } from './io.ts'
import { createProgress } from './progress.ts'

export function scanWithProgress(path: string, io: Io): FileScan {
  const progress = createProgress(io)
  try {
    return scanFile(path, { onProgress: progress.show })
  } finally {
    progress.clear()
  }
}

/** What a person may say about the window on the command line. */
export type WindowChoice = { readonly model?: string; readonly window?: number }

export type Measured = WindowChoice & { readonly env: Environment }

type Reading = Pick<Parameters<typeof readFile>[1], 'whole' | 'withFacts' | 'onProgress'>

/** The file as a session. Throws the system's error, or a ConfigurationError if the settings cannot work. */
export function openFile(path: string, { env, model, window, ...reading }: Measured & Reading): Promise<ReadFile> {
  const settings = window === undefined ? {} : { contextWindow: window }
  const engine = { model: offline(), environment: env, settings }
  return readFile(path, { engine, ...(model ? { model } : {}), ...reading })
}

export function explainFile({ session }: Pick<ReadFile, 'session'>, { window }: WindowChoice): Explanation {
  const { prediction: _, sessionMemory: __, ...explanation } = session.explain()
  const { contextWindow } = explanation
  // The person who typed the option should find it under its own name.
  const isOption = window !== undefined && contextWindow.source === 'setting contextWindow'
  return isOption ? { ...explanation, contextWindow: { ...contextWindow, source: '--window' } } : explanation
}

/** A session that was written by Everlong has a calibration, which counts for its own model only. */
export function countingOf({ note }: Transcript, { model }: Explanation): Pick<SituationInput, 'calibration'> {
  return note && note.model === model ? { calibration: note.calibration } : {}
}

/**
 * A word where what happened does not fit the window that was assumed: the table knows what a model can do, not what
 * an account or a client allowed. Nothing when the person has said what the window is.
 */
export function windowHint(
  { size, contextWindow, autoCompactThreshold, reserve }: Explanation,
  { entries }: Transcript,
  { window }: WindowChoice,
): string | undefined {
  if (window !== undefined) return undefined
  if (size.reported > contextWindow.value)
    return `The context is larger than the window of ${count(contextWindow.value)}: it must have been another. Try --window 1000000.`
  const [boundary] = entries.toReversed().flatMap(({ record }) => readBoundary(record) ?? [])
  const before = boundary?.trigger === 'auto' ? boundary.preTokens : undefined
  if (before === undefined || before > autoCompactThreshold.value * 0.9) return undefined
  const guess = Math.round((before + compactBuffer + reserve.value) / 5_000) * 5_000
  return `The last automatic compaction came at ${count(before)} tokens, long before ${count(autoCompactThreshold.value)}: the window was smaller. Try --window ${guess}.`
}

/** What the default threshold keeps free of the effective window. */
const compactBuffer = 13_000
