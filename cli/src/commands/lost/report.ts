// The report of `everlong lost`, which is also its JSON.
import type { LostFact, LostFile, LostType } from 'everlong/internal/node'

export type LostReport = {
  /** The searched paths. */
  readonly paths: readonly string[]
  /** Number of readable sessions, and how many of them were read. */
  readonly found: number
  readonly read: number
  readonly counts: Readonly<Record<LostType, number>>
  /** Compacted sessions, newest first. */
  readonly sessions: readonly LostSession[]
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[]
  /** Agents whose sessions lost something and that Everlong could be installed into. */
  readonly installable: readonly string[]
  /** How the user started this program, for commands to copy. */
  readonly program: string
}

export type LostSession = Pick<LostFile, 'path' | 'format' | 'sessionId' | 'compactions' | 'unverified'> & {
  readonly facts: readonly ReportedFact[]
  readonly unknown: LostFile['unknown'] | undefined
}

type Optional = 'about' | 'cause' | 'by' | 'time'

/** Has every field, because JSON uses null for missing values. */
export type ReportedFact = Omit<LostFact, Optional> & { readonly [Key in Optional]: LostFact[Key] | undefined }

export type LostSource = Omit<LostReport, 'counts' | 'sessions' | 'read'> & { readonly files: readonly LostFile[] }

export function reportOf({ files, paths, found, unreadable, installable, program }: LostSource): LostReport {
  const compacted = files.filter(({ compactions }) => compactions.length > 0)
  const counts = { rule: 0, decision: 0, request: 0, failure: 0, command: 0, file: 0 }
  for (const { type } of compacted.flatMap(({ facts }) => facts)) counts[type]++
  const sessions = compacted.map(sessionOf)
  return { paths, found, read: files.length, counts, sessions, unreadable, installable, program }
}

function sessionOf({ path, format, sessionId, compactions, facts, unverified, unknown }: LostFile): LostSession {
  return { path, format, sessionId, compactions, facts: facts.map(withEveryField), unverified, unknown }
}

function withEveryField({ type, text, about, cause, by, uuid, line, time, compaction }: LostFact): ReportedFact {
  return { type, text, about, cause, by, uuid, line, time, compaction }
}
