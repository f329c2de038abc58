// Two ledgers of one conversation made one, without a model: what the later one saw counts as having come after.
// Associative, and the empty ledger changes nothing. It drops nothing either: caps are for whoever writes or stores.
import type { CommandFact, ErrorFact, FileFact, Ledger, NameFact, RepositoryFact, Saying, UrlFact } from './facts.ts'
import { commandKey, errorKey, typedKey } from './keys.ts'
import { sayingKey } from './sayings.ts'
import { betterHow, lastRanges } from './state.ts'

export function mergeLedgers(earlier: Ledger, later: Ledger): Ledger {
  const moved = moveLedger(later, earlier.messages)
  const root = earlier.root ?? later.root
  const olderConstraints = (earlier.olderConstraints ?? 0) + (later.olderConstraints ?? 0)
  return {
    messages: earlier.messages + later.messages,
    ...(root === undefined ? {} : { root }),
    files: mergeFacts(earlier.files, moved.files, { key: (fact) => fact.path, join: joinFiles }),
    commands: mergeFacts(earlier.commands, moved.commands, { key: commandKey, join: joinCommands }),
    errors: mergeFacts(earlier.errors, moved.errors, { key: errorKey, join: joinErrors }),
    urls: mergeFacts(earlier.urls, moved.urls, { key: (fact) => fact.url, join: joinUrls }),
    typed: mergeFacts(earlier.typed, moved.typed, { key: typedKey, join: (_, fact) => fact }),
    constraints: mergeFacts(earlier.constraints, moved.constraints, sayings),
    ...(olderConstraints === 0 ? {} : { olderConstraints }),
    decisions: mergeFacts(earlier.decisions, moved.decisions, sayings),
    todos: later.todos.length > 0 ? later.todos : earlier.todos,
    commits: mergeFacts(earlier.commits, moved.commits, { key: (fact) => fact.hash, join: (_, fact) => fact }),
    repository: joinRepositories(earlier.repository, moved.repository),
    names: mergeFacts(earlier.names, moved.names, { key: (fact) => fact.name, join: joinNames }),
  }
}

type Merging<Fact> = {
  readonly key: (fact: Fact) => string
  readonly join: (earlier: Fact, later: Fact) => Fact
}

/** In the order of first appearance, which is the same however the parts were put together. */
function mergeFacts<Fact>(
  earlier: readonly Fact[],
  later: readonly Fact[],
  { key, join }: Merging<Fact>,
): readonly Fact[] {
  const facts = new Map(earlier.map((fact) => [key(fact), fact]))
  for (const fact of later) {
    const known = facts.get(key(fact))
    facts.set(key(fact), known === undefined ? fact : join(known, fact))
  }
  return [...facts.values()]
}

/** Times of the later ledger begin where the earlier one ends; "never" stays never. */
function moveLedger(ledger: Ledger, by: number): Ledger {
  const after = (time: number) => (time < 0 ? time : time + by)
  const move = <Fact extends { readonly last: number }>(fact: Fact): Fact => ({ ...fact, last: after(fact.last) })
  const { repository } = ledger
  return {
    ...ledger,
    files: ledger.files.map((fact) => ({ ...move(fact), changedLast: after(fact.changedLast) })),
    commands: ledger.commands.map(move),
    errors: ledger.errors.map(move),
    urls: ledger.urls.map(move),
    typed: ledger.typed.map(move),
    constraints: ledger.constraints.map(move),
    decisions: ledger.decisions.map(move),
    commits: ledger.commits.map(move),
    repository: {
      ...repository,
      statusLast: after(repository.statusLast),
      touchedLast: after(repository.touchedLast),
      pushedLast: after(repository.pushedLast),
    },
    names: ledger.names.map((fact) => ({ ...move(fact), writtenLast: after(fact.writtenLast) })),
  }
}

function joinFiles(a: FileFact, b: FileFact): FileFact {
  const lines = b.lines ?? a.lines
  return {
    path: a.path,
    reads: a.reads + b.reads,
    changes: a.changes + b.changes,
    created: a.created || b.created,
    act: b.act === 'searched' ? a.act : b.act,
    last: b.last,
    changedLast: Math.max(a.changedLast, b.changedLast),
    seen: lastRanges(a.seen, b.seen),
    changed: lastRanges(a.changed, b.changed),
    ...(lines === undefined ? {} : { lines }),
  }
}

function joinCommands(a: CommandFact, b: CommandFact): CommandFact {
  return { ...b, runs: a.runs + b.runs }
}

function joinErrors(a: ErrorFact, b: ErrorFact): ErrorFact {
  return { ...b, times: a.times + b.times }
}

function joinUrls(a: UrlFact, b: UrlFact): UrlFact {
  return { url: a.url, times: a.times + b.times, last: b.last, how: betterHow(a.how, b.how) }
}

/** The first wording stays, with the entry it stands in. */
const sayings: Merging<Saying> = {
  key: (fact) => sayingKey(fact.text),
  join: (a, b) => ({ ...a, last: b.last }),
}

/** What the later one saw replaces what the earlier one saw, point by point. */
function joinRepositories(a: RepositoryFact, b: RepositoryFact): RepositoryFact {
  const lists = b.statusLast < 0 ? a : b
  return {
    ...a,
    ...b,
    staged: lists.staged,
    unstaged: lists.unstaged,
    untracked: lists.untracked,
    statusLast: Math.max(a.statusLast, b.statusLast),
    touchedLast: Math.max(a.touchedLast, b.touchedLast),
    pushedLast: Math.max(a.pushedLast, b.pushedLast),
  }
}

function joinNames(a: NameFact, b: NameFact): NameFact {
  const home = b.homeRank >= a.homeRank ? b : a
  return {
    name: a.name,
    times: a.times + b.times,
    written: a.written + b.written,
    last: b.last,
    writtenLast: Math.max(a.writtenLast, b.writtenLast),
    asked: a.asked || b.asked,
    inError: a.inError || b.inError,
    home: home.home,
    homeRank: home.homeRank,
  }
}
