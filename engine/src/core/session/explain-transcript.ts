// How full the context of a transcript is. Settings of the caller take precedence over those that the session noted, and the
// session's notes count only for its own model.
import { editedSize } from '../mechanisms/measure.ts'
import { defined, objectAt } from '../message/json.ts'
import { blocksOf, type ViewMessage } from '../message/message.ts'
import type { Environment, SizeSettings } from '../settings/resolve.ts'
import { modelOf } from '../tokens/context-size.ts'
import { type ExplainInput, type Explanation, explain } from '../tokens/explain.ts'
import { messageOf } from '../transcript/format/messages.ts'
import type { Transcript } from './transcript.ts'

export type ExplainOptions = {
  /** Default: the model that the session noted, or the one that wrote the newest answer. */
  readonly model?: string | undefined
  readonly settings?: SizeSettings | undefined
  /** Tokens of the system prompt and the tools. Default: the number that the session noted. */
  readonly overhead?: number | undefined
  readonly env: Environment
}

/** Throws a ConfigurationError if the settings cannot work. */
export function explainTranscript(transcript: Transcript, options: ExplainOptions): Explanation {
  const { answered, note, view } = transcript
  const known = knownTo(transcript, options)
  // Without any edit, the newest answer's report is the size of the context.
  const isEdited = note !== undefined || view.edits.length > 0 || view.reduced !== undefined
  const size = isEdited ? editedSize(answered, view, known) : undefined
  const messages = [...view.messages, ...emptyAnswers(transcript)]
  const explanation = explain({ ...known, messages, size, isCompactionUndone: view.isCompactionUndone })
  const { contextWindow } = explanation
  const isRecorded = known.isWindowRecorded && contextWindow.source === 'the provider'
  return isRecorded
    ? { ...explanation, contextWindow: { ...contextWindow, source: 'recorded in the session' } }
    : explanation
}

type ExplainFacts = ExplainInput & { readonly isWindowRecorded: boolean }

/** The input for computing sizes and thresholds. */
function knownTo(transcript: Transcript, { env, model: asked, settings, overhead }: ExplainOptions): ExplainFacts {
  const answerer = answeredBy(transcript)
  const model = asked ?? (transcript.note === undefined ? answerer : undefined)
  const note = model === undefined || model === transcript.note?.model ? transcript.note : undefined
  const window = model === answerer ? recordedWindow(transcript) : undefined
  return {
    ...note,
    ...(window === undefined ? {} : { provider: { window } }),
    ...defined({ model, overhead }),
    settings: { ...note?.settings, ...settings },
    environment: env,
    isWindowRecorded: window !== undefined,
  }
}

/** The context window that the client wrote down. Codex does so with each count of tokens and at the start of each turn. */
function recordedWindow({ entries }: Transcript): number | undefined {
  for (const { record } of entries.toReversed()) {
    const payload = record.type === 'event_msg' ? objectAt(record, 'payload') : undefined
    const window = payload?.model_context_window ?? objectAt(payload, 'info')?.model_context_window
    if (typeof window === 'number' && window > 0) return window
  }
  return undefined
}

/** Codex reports usage in records without content, which no view shows. The records after the view have its size. */
function emptyAnswers({ entries, view }: Transcript): readonly ViewMessage[] {
  const last = view.sources.at(-1)?.uuids.at(-1)
  const at = entries.findLastIndex(({ record }) => record.uuid === last)
  return entries.slice(at + 1).flatMap(({ record }) => {
    const message = record.isSidechain === true ? undefined : messageOf(record)
    return message?.role === 'assistant' && message.usage && blocksOf(message.content).length === 0 ? [message] : []
  })
}

/** The model of the newest answer, even if a compaction removed that answer from the view. */
export function answeredBy({ entries, view }: Transcript): string | undefined {
  for (const { record } of entries.toReversed()) {
    const answer = record.isSidechain === true ? undefined : messageOf(record)
    if (answer?.role === 'assistant' && answer.model !== undefined) return answer.model
  }
  return modelOf(view.messages)
}
