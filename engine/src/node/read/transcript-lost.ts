// What the compactions of a transcript lost.
import { type Lost, lostIn } from '../../core/compaction/lost/lost.ts'
import type { Transcript } from '../../core/session/transcript.ts'

export type LostFile = Lost &
  Pick<Transcript, 'path' | 'format' | 'sessionId'> & {
    /** False if nothing in the file belongs to a conversation. */
    readonly isTranscript: boolean
  }

/** At the start of a large file only the beginnings of long texts are compared. */
export function lostInTranscript({ path, format, place, entries }: Transcript): LostFile {
  const { sessionId, parentUuid } = place
  return { path, format, sessionId: sessionId || undefined, isTranscript: parentUuid !== null, ...lostIn(entries) }
}
