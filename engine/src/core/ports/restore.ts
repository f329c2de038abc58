// Request and result of restoring: titled pieces for the new context, and a list of what could not be restored. Also files as
// restoring sees them: from disk, or rebuilt from a transcript.

import type { JsonObject } from '../message/json.ts'
import { groupBy } from '../message/maps.ts'
import type { ViewMessage } from '../message/message.ts'
import { withoutSecrets } from '../text/secrets.ts'

export type RestoreRequest = {
  /** Messages that stay verbatim. Their content is not restored again. */
  readonly kept: readonly ViewMessage[]
  readonly removed: readonly ViewMessage[]
  /** Tokens for all pieces. */
  readonly budget: number
  readonly countTokens: (text: string) => number
  /** The compaction runs before the threshold because carrying the context costs too much, so it restores little. */
  readonly isEarly?: boolean
  /** The next step, in the words of the summary and the user. */
  readonly next?: string
}

/** A titled text for the model. */
export type RestoredPiece = {
  /** `files`, `todos`, `plan` …: the kind of the attachment. */
  readonly kind: string
  readonly title: string
  readonly text: string
  readonly tokens: number
  readonly path?: string
  /** The entry of which this is a verbatim copy. */
  readonly entry?: string
  /** Its data about the session's state, used when the session is opened again. */
  readonly state?: JsonObject
}

export type NotRestored = {
  readonly kind: string
  readonly what: string
  readonly why: string
}

export type Restored = {
  readonly pieces: readonly RestoredPiece[]
  readonly notRestored: readonly NotRestored[]
}

export type Restoration = Restored & {
  readonly tokens: number
}

/** Never fails. Lists what cannot be read. */
export type Restore = (request: RestoreRequest) => Promise<Restoration>

export const nothingRestored: Restoration = { pieces: [], notRestored: [], tokens: 0 }

/** A piece as it appears in the context. */
export function pieceText({ title, text }: Pick<RestoredPiece, 'title' | 'text'>): string {
  return `${title}\n${text}`
}

const maxNames = 12

/** Lists what was not restored, grouped by reason, so that the agent does not assume it has seen it. */
export function missingText(notRestored: readonly Pick<NotRestored, 'what' | 'why'>[]): string | undefined {
  if (notRestored.length === 0) return undefined
  const reasons = groupBy(notRestored.slice(0, maxNames), ({ why }) => why)
  const names = [...reasons].map(([why, missing]) => `- ${missing.map(({ what }) => what).join(', ')}: ${why}`)
  const more = notRestored.length - maxNames
  return ['Not put back:', ...names, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

/** Lines count from 1. Both ends of a range are included. */
export type FilePart = {
  /** The lines that may be restored. */
  readonly lines: readonly (readonly [from: number, to: number])[]
  /** Lines that are restored as shown although the file has changed there. */
  readonly differs: readonly (readonly [from: number, to: number])[]
}

export type FileRead =
  /** `part` is set if the session saw only these lines. All other lines are empty in `text`. */
  | { readonly type: 'text'; readonly text: string; readonly part?: FilePart }
  | { readonly type: 'missing' }
  | { readonly type: 'binary'; readonly bytes: number }
  /** Outside the workspace, never shown to this session, or not readable. */
  | {
      readonly type: 'refused'
      readonly why: string
      readonly isOutside?: boolean
      /** The whole text as the conversation last showed it. The file may have changed since then. */
      readonly lastShown?: string
    }

/** Replaces secrets in a text. */
export type Redact = (text: string) => string
/** Undefined if the host's function failed. The text must not be used then. */
export type SafeRedact = (text: string) => string | undefined

export type FileStore = {
  readonly read: (path: string) => Promise<FileRead>
}

/** Cleans a model's text before it is stored and sent, because it may repeat any secret of the conversation. */
export function withoutSecretsFor(redact: SafeRedact | undefined): Redact {
  return (text) => withoutSecrets(redact?.(text) ?? text)
}

export function redactedFile(file: FileRead, redact: SafeRedact | undefined): FileRead {
  if (file.type !== 'text' || !redact) return file
  const text = redact(file.text)
  return text === undefined ? { type: 'refused', why: 'its secrets could not be redacted' } : { ...file, text }
}
