// How likely a fact is to be needed again. What the assistant wrote itself, lately and often, is what it writes next;
// then what the person named, what stands in errors, what was seen last. The same few weights for every session.
import type { CommandFact, ErrorFact, FileFact, NameFact, Saying, Typed, UrlFact } from './facts.ts'

/** After so many messages a fact is half as recent. */
const halfLife = 20

/** 1 for this very message, a half after twenty, never 0. */
export function recency(last: number, now: number): number {
  return last < 0 ? 0 : 1 / (1 + Math.max(0, now - last) / halfLife)
}

/**
 * The log-odds that this name is needed again: higher when the assistant wrote it, the more the oftener; lower with every
 * doubling of the time since it was last met. These were fitted on half of the points of some sessions and held against the
 * other half; the rest was set by hand, and kept because both halves gained.
 */
export function nameScore(fact: NameFact, now: number): number {
  const { written, times, last, home } = fact
  const own = written > 0 ? 0.7 + 0.8 * Math.log1p(written) : 0.3 * Math.log(times)
  const age = Math.log1p(Math.max(0, now - last) / 10)
  return own - 0.65 * age - 2 + homes[home.type === 'talk' ? home.name : home.type] - lightness(fact)
}

/** Names in outputs come back less than names in files or in what was said, and those that the client put in least. */
const homes = { file: -0.8, command: -1, human: -0.6, assistant: -0.5, agent: -0.5, summary: 0.3, context: -1.3 }

/** Ids, hashes and versions; whatever has a mark inside is a path, a file or a number with its label. */
const opaque = /^(?:[\d_]+|[0-9a-f]{7,40}|v?\d+\.\d+\.\d+[\w.+-]*)$/
const marked = /[-/. :#]/

/** Some names are seldom needed again, the more seldom when the assistant never wrote them itself. */
function lightness({ name, written, asked, home }: NameFact): number {
  const isOwn = written > 0
  if (opaque.test(name)) return isOwn ? 0.7 : 1.5
  if (isOwn) return 0
  // A person's words stand on the page anyway.
  const said = asked ? 0.7 : 0
  const isOutput =
    home.type === 'command' || (home.type === 'talk' && (home.name === 'agent' || home.name === 'context'))
  return said + (isOutput && !marked.test(name) ? 0.7 : 0)
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

/** How likely this name is needed again. */
export function chanceOf(fact: NameFact, now: number): number {
  return 1 / (1 + Math.exp(-nameScore(fact, now)))
}

/** What knowing about a file is worth beside its path. */
export function fileWorth(fact: FileFact, now: number): number {
  return (fact.changes > 0 ? 5 + 1.5 * recency(fact.changedLast, now) : 0) + 0.5 * recency(fact.last, now)
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
  name: 0.2,
} as const
export type Lasting = keyof typeof lasting

/** After so many messages a memory is worth half: the oldest leave first, but slowly. */
const fading = 1000

/** Nothing for what was met since, or is no memory. */
export function lastingOf(
  kind: Lasting | undefined,
  { last }: { readonly last: number },
  { since, now }: { readonly since: number; readonly now: number },
): { readonly lasting?: number } {
  if (kind === undefined || last >= since) return {}
  return { lasting: lasting[kind] / (1 + (now - last) / fading) }
}

/** So many times more slowly does a message grow old that tells something for good. */
const slowness = 10

/** The higher, the longer a typed message stays. */
export function typedRank({ last, tells }: Pick<Typed, 'last' | 'tells'>, now: number): number {
  return tells ? now - (now - last) / slowness : last
}
