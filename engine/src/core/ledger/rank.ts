// How likely a fact is to be needed again. What the assistant wrote itself, lately and often, is what it writes next;
// then what the person named, what stands in errors, what was seen last. The same few weights for every session.
import type { CommandFact, ErrorFact, FileFact, NameFact, Saying, UrlFact } from './facts.ts'

/** After so many messages a fact is half as recent. */
const halfLife = 20

/** 1 for this very message, a half after twenty, never 0. */
export function recency(last: number, now: number): number {
  return last < 0 ? 0 : 1 / (1 + Math.max(0, now - last) / halfLife)
}

export function nameScore(fact: NameFact, now: number): number {
  const own = fact.written > 0 ? 2 + 1.5 * Math.log1p(fact.written) + 2 * recency(fact.writtenLast, now) : 0
  const seen = 1.5 * recency(fact.last, now) + 0.5 * Math.log1p(fact.times)
  return own + seen + (fact.asked ? 0.5 : 0) + (fact.inError ? 0.5 : 0) + homeScore(fact) - guessable(fact)
}

/** Names in files come back more than names in outputs, and those in what the client put in hardly ever. */
const homes = { file: 1, command: -1, human: 0, assistant: 0, agent: -0.5, summary: -0.5, context: -2 }

function homeScore({ home }: NameFact): number {
  return homes[home.type === 'talk' ? home.name : home.type]
}

/** Hashes and versions in outputs are mostly of one moment; numbers are what one counts anew. */
function guessable(fact: NameFact): number {
  if (/[ :]\d[\d–-]*$|^[a-z]+\/[a-z]+$/.test(fact.name)) return 1
  // Said, not met as a path: "warn/error" is a choice of words.
  if (fact.home.type === 'talk' && /^[A-Za-z-]+(?:\/[A-Za-z-]+)+$/.test(fact.name)) return 1
  return fact.written === 0 && !fact.asked && /^[\dv.]+$|^[0-9a-f-]{7,}$/.test(fact.name) ? 1.5 : 0
}

export function fileScore(fact: FileFact, now: number): number {
  const changed = fact.changes > 0 ? 3 + Math.log1p(fact.changes) + 3 * recency(fact.changedLast, now) : 0
  const read = fact.reads > 0 ? 1 + 0.5 * Math.log1p(fact.reads) : 0
  return changed + read + 2 * recency(fact.last, now) - (fact.act === 'deleted' ? 1 : 0)
}

const verifying = { test: 2, lint: 2, types: 2, build: 2, git: 0.5, other: 0 }

export function commandScore(fact: CommandFact, now: number): number {
  return (
    verifying[fact.purpose] + Math.log1p(fact.runs) + 3 * recency(fact.last, now) + (fact.ended === 'well' ? 0 : 0.5)
  )
}

/** Open errors matter more than mended ones, and those that came again more than those that did not. */
export function errorScore(fact: ErrorFact, now: number): number {
  return (fact.fix === undefined ? 1 : 0) + Math.log1p(fact.times) + 3 * recency(fact.last, now)
}

export function urlScore(fact: UrlFact, now: number): number {
  return 3 * urlWorth(fact, now) + Math.log1p(fact.times)
}

const known = { fetched: 0.6, failed: 0.4, named: 0.5, seen: 0.02 }

/** A page of links names many that nobody will follow. */
export function urlWorth(fact: UrlFact, now: number): number {
  return known[fact.how] * (0.5 + recency(fact.last, now))
}

/** Oldest first out; a person's words after the assistant's. */
export function sayingScore(fact: Saying): number {
  return fact.last + (fact.by === 'human' ? 1e9 : 0)
}

/** From scores to chances: the score at which a name is as likely to be needed as not, and how sharp the change is. */
const evenScore = 6
const slope = 0.55

/** A name that was only read comes back with the file it stands in: one lately looked at, one that is being changed. */
const worthOfHome = { seen: 1.5, changed: 0.5 } as const

/** How likely this name is needed again; `file` is the one it belongs to. */
export function chanceOf(fact: NameFact, now: number, file?: FileFact): number {
  const { seen, changed } = worthOfHome
  const withFile =
    file === undefined || fact.written > 0 ? 0 : seen * recency(file.last, now) + (file.changes > 0 ? changed : 0)
  return 1 / (1 + Math.exp(slope * (evenScore - nameScore(fact, now) - withFile)))
}

/** What knowing about a file is worth beside its path. */
export function fileWorth(fact: FileFact, now: number): number {
  return (fact.changes > 0 ? 0.5 + 1.5 * recency(fact.changedLast, now) : 0) + 0.5 * recency(fact.last, now)
}

/** What a memory of an earlier round is worth by its kind. What people said and what was made outlives what was seen. */
const lasting = {
  human: 1.5,
  changed: 1,
  commit: 1,
  assistant: 1,
  address: 0.8,
  verifying: 0.8,
  error: 0.5,
  read: 0.4,
  command: 0.4,
  name: 0.1,
} as const
export type Lasting = keyof typeof lasting

/** After so many messages a memory is worth half: the oldest leave first, but slowly. */
const fading = 2000

/** Nothing for what was met since, or is no memory. */
export function lastingOf(
  kind: Lasting | undefined,
  { last }: { readonly last: number },
  { since, now }: { readonly since: number; readonly now: number },
): { readonly lasting?: number } {
  if (kind === undefined || last >= since) return {}
  return { lasting: lasting[kind] / (1 + (now - last) / fading) }
}
