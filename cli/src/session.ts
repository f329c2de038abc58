// Shared parts of commands that read a transcript: a scan with a progress line, and the file as a session. Renders nothing.

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

/** The user's options about the window. */
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
  // A person who typed the option should find it under its own name.
  const isOption = window !== undefined && contextWindow.source === 'setting contextWindow'
  return isOption ? { ...explanation, contextWindow: { ...contextWindow, source: '--window' } } : explanation
}

/** A session by Everlong has a calibration, which applies only to its own model. */
export function countingOf({ note }: Transcript, { model }: Explanation): Pick<SituationInput, 'calibration'> {
  return note && note.model === model ? { calibration: note.calibration } : {}
}

/**
 * A hint if the session does not fit the assumed window: the table knows a model's limits, not those of an account or a client.
 * None if the user gave the window.
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

/** Tokens of the effective window that the default threshold keeps free. */
const compactBuffer = 13_000
