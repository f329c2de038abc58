// A ledger while it is being written: the facts by key, the calls that wait for their result, the errors that wait for
// their fix. Every list is bounded, so that a session of any length stays small.

import { caps, trimFacts, typedCharacters } from './caps.ts'
import type {
  CommandFact,
  Commit,
  ErrorFact,
  FileAct,
  FileFact,
  Home,
  Ledger,
  Lines,
  NameFact,
  RepositoryFact,
  Saying,
  Todo,
  Typed,
  UrlFact,
} from './facts.ts'
import { commandKey, errorKey, typedKey } from './keys.ts'
import { type NameCache, namesIn, numbersIn } from './names.ts'
import { commandScore, errorScore, fileScore, nameScore, sayingScore, typedRank, urlScore } from './rank.ts'
import { sayingKey } from './sayings.ts'
import { withoutSecrets } from './secrets.ts'
import type { ToolKind } from './tools.ts'

/** A tool call whose result has not come yet. */
export type Call = {
  readonly kind: ToolKind
  readonly name: string
  readonly input: unknown
}

/** An error that nothing has put right so far. */
export type OpenError = { readonly key: string; readonly topic: string; readonly edits: readonly string[] }

/** Names are met by the ten thousand, so their facts are changed in place, here and nowhere else. */
type NameCell = { -readonly [Key in keyof NameFact]: NameFact[Key] }

export type State = {
  messages: number
  root: string | undefined
  readonly files: Map<string, FileFact>
  readonly commands: Map<string, CommandFact>
  readonly errors: Map<string, ErrorFact>
  readonly urls: Map<string, UrlFact>
  readonly typed: Map<string, Typed>
  readonly constraints: Map<string, Saying>
  olderConstraints: number
  readonly decisions: Map<string, Saying>
  readonly commits: Map<string, Commit>
  readonly names: Map<string, NameCell>
  todos: readonly Todo[]
  repository: RepositoryFact
  readonly calls: Map<string, Call>
  open: readonly OpenError[]
  readonly cache: NameCache
}

export function createState(from: Ledger): State {
  return {
    messages: from.messages,
    root: from.root,
    files: new Map(from.files.map((fact) => [fact.path, fact])),
    commands: new Map(from.commands.map((fact) => [commandKey(fact), fact])),
    errors: new Map(from.errors.map((fact) => [errorKey(fact), fact])),
    urls: new Map(from.urls.map((fact) => [fact.url, fact])),
    typed: new Map(from.typed.map((fact) => [typedKey(fact), fact])),
    constraints: new Map(from.constraints.map((fact) => [sayingKey(fact.text), fact])),
    olderConstraints: from.olderConstraints ?? 0,
    decisions: new Map(from.decisions.map((fact) => [sayingKey(fact.text), fact])),
    commits: new Map(from.commits.map((fact) => [fact.hash, fact])),
    names: new Map(from.names.map((fact) => [fact.name, { ...fact }])),
    todos: from.todos,
    repository: from.repository,
    calls: new Map(),
    open: [],
    cache: new Map(),
  }
}

export function ledgerOf(state: State): Ledger {
  trimState(state, 1)
  return {
    messages: state.messages,
    ...(state.root === undefined ? {} : { root: state.root }),
    files: [...state.files.values()],
    commands: [...state.commands.values()],
    errors: [...state.errors.values()],
    urls: [...state.urls.values()],
    typed: [...state.typed.values()],
    constraints: [...state.constraints.values()],
    ...(state.olderConstraints === 0 ? {} : { olderConstraints: state.olderConstraints }),
    decisions: [...state.decisions.values()],
    todos: state.todos,
    commits: [...state.commits.values()],
    repository: state.repository,
    names: [...state.names.values()].map((cell) => ({ ...cell })),
  }
}

/**
 * Drops what ranks lowest wherever a list has grown past `slack` times its cap. With a slack of two, a list is sorted
 * once for as many additions as its cap has places: constant time for each.
 */
export function trimState(state: State, slack: number): void {
  const now = state.messages
  trimFacts(state.files, { cap: caps.files, slack, score: (fact) => fileScore(fact, now) })
  trimFacts(state.commands, { cap: caps.commands, slack, score: (fact) => commandScore(fact, now) })
  trimFacts(state.errors, { cap: caps.errors, slack, score: (fact) => errorScore(fact, now) })
  trimFacts(state.urls, { cap: caps.urls, slack, score: (fact) => urlScore(fact, now) })
  const [firstTyped] = state.typed.values()
  trimFacts(state.typed, {
    cap: caps.typed,
    slack,
    score: (fact) => (fact === firstTyped ? now : typedRank(fact, now)),
  })
  state.olderConstraints += trimFacts(state.constraints, { cap: caps.constraints, slack, score: sayingScore })
  trimFacts(state.decisions, { cap: caps.decisions, slack, score: sayingScore })
  trimFacts(state.commits, { cap: caps.commits, slack, score: (fact) => fact.last })
  trimFacts(state.names, { cap: caps.names, slack, score: (fact) => nameScore(fact, now) })
}

export type Sighting = {
  readonly home: Home
  readonly homeRank: number
  /** The assistant wrote it. */
  readonly written?: boolean
  /** A person wrote it. */
  readonly asked?: boolean
  readonly inError?: boolean
}

export function noteNames(state: State, text: string, seen: Sighting): void {
  if (text === '') return
  const at = state.messages
  const home: Home = seen.home.type === 'file' ? { type: 'file', name: knownPath(state, seen.home.name) } : seen.home
  const said = seen.written || seen.asked
  // Numbers in files are code; numbers that somebody said or that a command put out may be asked for again.
  const isCode = seen.home.type === 'file' && !said
  const names = isCode ? namesIn(text, state.cache) : [...namesIn(text, state.cache), ...numbersIn(text)]
  for (const name of names) {
    if (name.includes('://')) {
      noteUrl(state, name, said ? 'named' : 'seen')
      continue
    }
    const cell = state.names.get(name)
    if (cell === undefined) {
      state.names.set(name, {
        name,
        times: 1,
        written: seen.written ? 1 : 0,
        last: at,
        writtenLast: seen.written ? at : -1,
        asked: seen.asked === true,
        inError: seen.inError === true,
        home,
        homeRank: seen.homeRank,
      })
      continue
    }
    cell.times++
    cell.last = at
    if (seen.written) {
      cell.written++
      cell.writtenLast = at
    }
    if (seen.asked) cell.asked = true
    if (seen.inError) cell.inError = true
    if (seen.homeRank >= cell.homeRank) {
      cell.home = home
      cell.homeRank = seen.homeRank
    }
  }
}

const urlRank = { seen: 0, named: 1, failed: 2, fetched: 2 }

/** Having been fetched says more than having been named; of equals the later one. */
export function betterHow(earlier: UrlFact['how'], later: UrlFact['how']): UrlFact['how'] {
  return urlRank[earlier] > urlRank[later] ? earlier : later
}

export function noteUrl(state: State, url: string, how: UrlFact['how']): void {
  const known = state.urls.get(url)
  state.urls.set(url, {
    url,
    times: (known?.times ?? 0) + 1,
    last: state.messages,
    how: known ? betterHow(known.how, how) : how,
  })
}

export type FileNews = {
  readonly act: FileAct
  readonly seen?: Lines | undefined
  readonly changed?: readonly Lines[]
  readonly lines?: number | undefined
}

const rangesKept = 12
const editsKept = 4

/**
 * The name under which a file is known: a path from somewhere inside the project is that of the whole path met before,
 * if there is just one it can be. A bare name could be any file's.
 */
export function knownPath(state: State, path: string): string {
  if (/^[~/]|^[A-Za-z]:/.test(path) || !path.includes('/') || state.files.has(path)) return path
  const tail = `/${path.replace(/^\.\//, '')}`
  let found: string | undefined
  for (const known of state.files.keys()) {
    if (!known.replaceAll('\\', '/').endsWith(tail)) continue
    if (found !== undefined) return path
    found = known
  }
  return found ?? path
}

export function noteFile(state: State, named: string, news: FileNews): void {
  if (named === '' || named.length > 400 || named.includes('\n')) return
  const path = knownPath(state, named)
  const known = state.files.get(path)
  const isChange = news.act !== 'read' && news.act !== 'searched'
  const lines = news.lines ?? known?.lines
  state.files.set(path, {
    path,
    reads: (known?.reads ?? 0) + (news.act === 'read' ? 1 : 0),
    changes: (known?.changes ?? 0) + (isChange ? 1 : 0),
    created: news.act === 'created' || (known?.created ?? false),
    act: news.act === 'searched' && known ? known.act : news.act,
    last: state.messages,
    changedLast: isChange ? state.messages : (known?.changedLast ?? -1),
    seen: lastRanges(known?.seen, news.seen ? [news.seen] : []),
    changed: lastRanges(known?.changed, news.changed ?? []),
    ...(lines === undefined ? {} : { lines }),
  })
  if (!isChange) return
  state.repository = { ...state.repository, touchedLast: state.messages }
  state.open = state.open.map((open) => ({
    ...open,
    edits: [...open.edits.filter((edit) => edit !== path), path].slice(-editsKept),
  }))
}

/** The last few, newest last; the same stretch seen again moves to the end. */
export function lastRanges(known: readonly Lines[] | undefined, more: readonly Lines[]): readonly Lines[] {
  const all = [...(known ?? []), ...more]
  const isLater = (range: Lines, index: number) =>
    all.findLastIndex(([from, to]) => from === range[0] && to === range[1]) === index
  return all.filter(isLater).slice(-rangesKept)
}

export function noteSaying(state: State, into: Map<string, Saying>, saying: Omit<Saying, 'last'>): void {
  const key = sayingKey(saying.text)
  if (key === '') return
  // The first wording stays, with the entry it stands in; being said again makes it new.
  into.set(key, { ...(into.get(key) ?? saying), last: state.messages })
}

/** Word for word, but for secrets; of a long one both ends. */
export function noteTyped(state: State, text: string, about: Pick<Typed, 'uuid' | 'tells'>): void {
  const said = withoutSecrets(text).toWellFormed()
  if (said.trim() === '') return
  const half = typedCharacters.each / 2
  const isCut = said.length > typedCharacters.each
  const fact: Typed = {
    text: isCut ? `${said.slice(0, half)}\n…\n${said.slice(-half)}`.toWellFormed() : said,
    last: state.messages,
    ...about,
    ...(isCut ? { isCut } : {}),
  }
  state.typed.set(typedKey(fact), fact)
}
