// How full the context of a transcript is. What the person says comes before what the session says, and of another model
// than its own the notes of a session say nothing.
import { editedSize } from '../mechanisms/measure.ts'
import { blocksOf } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import type { Environment } from '../settings/resolve.ts'
import { type Explanation, explain } from '../tokens/explain.ts'
import { messageOf } from '../transcript/format/messages.ts'
import { recordedWindow } from '../transcript/format/recorded-window.ts'
import type { ContextNote } from './context-note.ts'
import type { Transcript } from './transcript.ts'

export type Grounds = {
  readonly note?: ContextNote | undefined
  /** The model of the newest answer, which a compaction may have taken out of the messages. */
  readonly answeredBy?: string | undefined
  /** As the client wrote it down; Codex does. */
  readonly recordedWindow?: number | undefined
}

/** What a person may say about the window. */
export type Measured = {
  readonly model?: string | undefined
  readonly window?: number | undefined
  readonly env: Environment
}

/** What sizes, thresholds and reductions of a session rest on. */
export function groundsOf(
  { note, answeredBy, recordedWindow: recorded }: Grounds,
  { env, model: asked, window }: Measured,
) {
  const model = asked ?? (note === undefined ? answeredBy : undefined)
  const noted = note !== undefined && (model === undefined || model === note.model) ? note : undefined
  const settings = { ...noted?.settings, ...(window === undefined ? {} : { contextWindow: window }) }
  const provider = recorded !== undefined && model === answeredBy ? { provider: { window: recorded } } : {}
  return { ...noted, ...provider, ...(model === undefined ? {} : { model }), settings, environment: env }
}

/** Throws a ConfigurationError if the settings cannot work. */
export function explainTranscript(transcript: Transcript, measured: Measured): Explanation {
  const { entries, note, answered, view } = transcript
  const known = { note, answeredBy: answeredBy(transcript), recordedWindow: recordedWindow(entries) }
  const grounds = groundsOf(known, measured)
  // As long as nothing was edited, what the newest answer reported is the size of its context.
  const isEdited = note !== undefined || view.edits.length > 0
  const size = isEdited ? editedSize(answered, view, grounds) : undefined
  // Before merging, as the command line counts them: merging adds words of ours.
  const messages = isEdited ? view.messages : view.sources.flatMap(({ pieces }) => pieces)
  return explain({ ...grounds, messages: [...messages, ...emptyAnswers(transcript)], size })
}

/** Codex reports usage in records without content, which no view shows. Those after the view say how large it is. */
function emptyAnswers({ entries, view }: Transcript): readonly ViewMessage[] {
  const last = view.sources.at(-1)?.uuids.at(-1)
  const at = entries.findLastIndex(({ record }) => record.uuid === last)
  return entries.slice(at + 1).flatMap(({ record }) => {
    const message = record.isSidechain === true ? undefined : messageOf(record)
    return message?.role === 'assistant' && message.usage && blocksOf(message.content).length === 0 ? [message] : []
  })
}

function answeredBy({ entries }: Transcript): string | undefined {
  for (const { record } of entries.toReversed()) {
    const answer = record.isSidechain === true ? undefined : messageOf(record)
    if (answer?.role === 'assistant' && answer.model !== undefined) return answer.model
  }
  return undefined
}
