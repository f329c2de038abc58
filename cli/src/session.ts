// What several commands need of a session file: a scan with a progress line, the live window as messages, and how
// full the context is. Gathers only; renders nothing.

import { count } from '@everlong/agent/render'
import { ConfigurationError, type Entry, type Environment } from 'everlong'
import { messagesOf, readHead, recordedWindow, type Tally, tallyOf, type ViewMessage } from 'everlong/internal'
import {
  type ContextNote,
  type ContextSize,
  type Explanation,
  editedSize,
  explain,
  groundsOf,
  readContextNote,
} from 'everlong/internal/compaction'
import {
  type FileScan,
  type LiveFile,
  openLive,
  readTranscript,
  scanFile,
  type Transcript,
} from 'everlong/internal/node'
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

export type LiveSession = {
  readonly live: LiveFile
  /** What the next request would carry, edits and all. */
  readonly messages: readonly ViewMessage[]
  /** Of the entries that these messages are made of, and where they begin. */
  readonly tally: Tally
  readonly stop: LiveFile['stop']
  /** The whole of it, folded: only when an engine of ours wrote in it, since the file's end does not tell what edits do. */
  readonly edited: Transcript | undefined
  /** What the session itself counted with, where an engine of ours wrote it. */
  readonly note: ContextNote | undefined
  /** Of the newest answer, which a compaction may have taken out of the messages. */
  readonly answeredBy: string | undefined
  /** As the client wrote it down; Codex does. */
  readonly recordedWindow: number | undefined
}

export function openLiveSession(path: string): LiveSession {
  const live = openLive(path)
  const note = readContextNote(live.read)
  const edited = live.isEdited || note ? readTranscript(path) : undefined
  const messages = edited?.view.messages ?? messagesOf(live.entries)
  const known = { edited, note, answeredBy: newestModel(live.read), recordedWindow: recordedWindow(live.read) }
  const elsewhere = edited && entriesElsewhere(live, edited)
  if (!elsewhere) return { live, messages, tally: tallyOf(live.entries), stop: live.stop, ...known }
  const stop = messages[0]?.origin === 'summary' ? 'boundary' : 'root'
  return { live, messages, tally: tallyOf(elsewhere), stop, ...known }
}

function newestModel(entries: readonly Entry[]): string | undefined {
  const isReal = ({ role, model }: ViewMessage) =>
    role === 'assistant' && model !== undefined && model !== '<synthetic>'
  return messagesOf(entries.filter(({ record }) => record.isSidechain !== true)).findLast(isReal)?.model
}

/** After an undo or a rewind the view is made of what lies before the last boundary; undefined when it is not. */
function entriesElsewhere({ entries }: LiveFile, { view, entry }: Transcript): readonly Entry[] | undefined {
  const near = new Set(entries.map(({ record }) => record.uuid))
  const shown = view.sources.flatMap(({ uuids }) => uuids)
  return shown.every((uuid) => near.has(uuid)) ? undefined : shown.flatMap((uuid) => entry(uuid) ?? [])
}

/**
 * A word where what happened does not fit the window that was assumed: the table knows what a model can do, not what
 * an account or a client allowed. Nothing when the person has said what the window is.
 */
export function windowHint(explanation: Explanation, live: LiveFile, measured: Measured): string | undefined {
  const { size, contextWindow, autoCompactThreshold, reserve } = explanation
  if (measured.window !== undefined) return undefined
  if (size.reported > contextWindow.value)
    return `The context is larger than the window of ${count(contextWindow.value)}: it must have been another. Try --window 1000000.`
  const [first] = live.entries
  const boundary = first && readHead(first).boundary
  const before = boundary?.trigger === 'auto' ? boundary.preTokens : undefined
  if (before === undefined || before > autoCompactThreshold.value * 0.9) return undefined
  const guess = Math.round((before + compactBuffer + reserve.value) / 5_000) * 5_000
  return `The last automatic compaction came at ${count(before)} tokens, long before ${count(autoCompactThreshold.value)}: the window was smaller. Try --window ${guess}.`
}

/** What the default threshold keeps free of the effective window. */
const compactBuffer = 13_000

/** What a person may say about the window on the command line. */
export type WindowChoice = { readonly model?: string; readonly window?: number }

export type Measured = WindowChoice & { readonly env: Environment }

export type Sized = {
  readonly messages: readonly ViewMessage[]
  readonly edited?: Transcript | undefined
  readonly note?: ContextNote | undefined
  readonly answeredBy?: string | undefined
  readonly recordedWindow?: number | undefined
}

/** Throws a ConfigurationError when the settings cannot work. */
export function explainSession({ messages, edited, ...known }: Sized, measured: Measured): Explanation {
  const grounds = groundsOf(known, measured)
  const size = edited && editedSize(edited.answered, edited.view, grounds)
  const explanation = explain({ ...grounds, messages, size })
  const { contextWindow } = explanation
  // The person who typed the option should find it again under its own name.
  if (measured.window !== undefined && contextWindow.source === 'setting contextWindow')
    return { ...explanation, contextWindow: { ...contextWindow, source: '--window' } }
  if (known.recordedWindow !== undefined && contextWindow.source === 'the provider')
    return { ...explanation, contextWindow: { ...contextWindow, source: 'recorded in the session' } }
  return explanation
}

/** Of the view, without what was removed by edits since the newest answer. */
export function sizeOf({ note, answered, view }: Transcript, { model }: Pick<WindowChoice, 'model'> = {}): ContextSize {
  const choice = model === undefined ? {} : { model }
  return editedSize(answered, view, groundsOf({ note }, { ...choice, env: {} }))
}

/** The same for screens on which a setting that cannot work is only one problem among others. */
export function tryToExplain(
  session: Sized,
  measured: Measured,
): { readonly explanation: Explanation | undefined; readonly trouble: string | undefined } {
  try {
    return { explanation: explainSession(session, measured), trouble: undefined }
  } catch (error) {
    if (error instanceof ConfigurationError) return { explanation: undefined, trouble: error.message }
    throw error
  }
}
