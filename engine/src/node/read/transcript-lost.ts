// What the compactions of a transcript lost.
import { type Lost, lostIn } from '../../core/compaction/lost/lost.ts'
import type { Transcript } from '../../core/session/transcript.ts'
import { type ReadOptions, readTranscript } from './transcript.ts'

export type LostFile = Lost &
  Pick<Transcript, 'path' | 'format' | 'sessionId'> & {
    /** False if the file has no conversation. */
    readonly isTranscript: boolean
  }

/** Throws the system's error if the file cannot be read. */
export function lostInFile(path: string, options: Pick<ReadOptions, 'onProgress'> = {}): LostFile {
  return lostInTranscript(readTranscript(path, { whole: true, ...options }))
}

/** At the start of a large file, only the beginnings of long texts are compared. */
export function lostInTranscript({ path, format, place, entries }: Transcript): LostFile {
  const { sessionId, parentUuid } = place
  return { path, format, sessionId: sessionId || undefined, isTranscript: parentUuid !== null, ...lostIn(entries) }
}
