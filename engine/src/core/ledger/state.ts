// A ledger while it is being written: facts by key, calls that wait for their result, errors that wait for a fix. Every
// list is bounded, so a session of any length stays small.
import type { ToolUseBlock } from '../message/block.ts'
import type {
  CommandFact,
  Commit,
  ErrorFact,
  Exchange,
  FileAct,
  FileFact,
  Ledger,
  Lines,
  RepositoryFact,
  Rule,
  Todo,
} from './facts.ts'
import { sentenceKey } from './rules.ts'
import type { ToolKind } from './tools.ts'

/** A tool call whose result has not arrived yet. */
export type Call = { readonly kind: ToolKind; readonly block: ToolUseBlock }

/** An error that nothing has fixed so far. */
export type OpenError = { readonly key: string; readonly topic: string; readonly edits: readonly string[] }

export type State = {
  messages: number
  root: string | undefined
  exchanges: Exchange[]
  readonly rules: Map<string, Rule>
  olderRules: number
  readonly files: Map<string, FileFact>
  readonly commands: Map<string, CommandFact>
  readonly errors: Map<string, ErrorFact>
  readonly commits: Map<string, Commit>
  todos: readonly Todo[]
  repository: RepositoryFact
  readonly calls: Map<string, Call>
  open: readonly OpenError[]
  /** The error that the agent's next words may explain. */
  unexplained: string | undefined
  /** The agent's latest words since the user spoke. */
  agentText: string
  /** How many steps the agent has taken since those words. */
}

/** How many facts of each kind are kept. */
export const caps = {
  exchanges: 500,
  rules: 120,
  files: 300,
  commands: 60,
  errors: 60,
  commits: 100,
  todos: 60,
  calls: 256,
  openErrors: 12,
} as const

export function createState(from: Ledger): State {
  return {
    messages: from.messages,
    root: from.root,
    exchanges: [...from.exchanges],
    rules: new Map(from.rules.map((rule) => [sentenceKey(rule.text), rule])),
    olderRules: from.olderRules ?? 0,
    files: new Map(from.files.map((fact) => [fact.path, fact])),
    commands: new Map(from.commands.map((fact) => [fact.text, fact])),
    errors: new Map(from.errors.map((fact) => [errorKey(fact), fact])),
    commits: new Map(from.commits.map((fact) => [fact.hash, fact])),
    todos: from.todos,
    repository: from.repository,
    calls: new Map(),
    open: [],
    unexplained: undefined,
    agentText: '',
  }
}

export function ledgerOf(state: State): Ledger {
  trim(state, 1)
  return {
    messages: state.messages,
    ...(state.root === undefined ? {} : { root: state.root }),
    exchanges: [...state.exchanges],
    rules: [...state.rules.values()],
    ...(state.olderRules === 0 ? {} : { olderRules: state.olderRules }),
    files: [...state.files.values()],
    commands: [...state.commands.values()],
    errors: [...state.errors.values()],
    todos: state.todos,
    commits: [...state.commits.values()],
    repository: state.repository,
  }
}

/** Numbers change from run to run: places, times, counts. */
export function errorKey({ what, line }: Pick<ErrorFact, 'what' | 'line'>): string {
  return `${what}\n${line.replace(/\d+/g, '0')}`
}

/**
 * Drops what is oldest wherever a list has grown past `slack` times its cap. With a slack of two a list is sorted once
 * for as many additions as its cap allows: constant time for each.
 */
export function trim(state: State, slack: number): void {
  if (state.exchanges.length > caps.exchanges * slack) {
    state.exchanges = [...mostTelling(state.exchanges, caps.exchanges)]
  }
  state.olderRules += dropOldestFacts(state.rules, { cap: caps.rules, slack })
  dropOldestFacts(state.files, { cap: caps.files, slack })
  dropOldestFacts(state.commands, { cap: caps.commands, slack })
  dropOldestFacts(state.errors, { cap: caps.errors, slack })
  dropOldestFacts(state.commits, { cap: caps.commits, slack })
}

/** So many of the newest stay whatever they say. */
const newestKept = 20
/** More than this of an exchange is no reason to keep it longer. */
const mostCounted = 400

/**
 * In the order in which they can be dropped: those that say least first, which is what was dealt with before what lasts,
 * a short request with a short report before a long one, and of equals the older. The first and the newest come last.
 */
export function leastTelling(exchanges: readonly Exchange[]): readonly Exchange[] {
  const worth = ({ lasts, text, report = '', done = '' }: Exchange) =>
    (lasts ? mostCounted : 0) + Math.min(mostCounted, text.length + report.length + done.length)
  const [first, ...others] = exchanges
  const middle = others.slice(0, Math.max(0, others.length - newestKept))
  const ranked = middle.toSorted((a, b) => worth(a) - worth(b) || a.last - b.last)
  return [...ranked, ...others.slice(middle.length), ...(first ? [first] : [])]
}

export function mostTelling(exchanges: readonly Exchange[], count: number): readonly Exchange[] {
  if (exchanges.length <= count) return exchanges
  const gone = new Set(leastTelling(exchanges).slice(0, exchanges.length - count))
  return exchanges.filter((exchange) => !gone.has(exchange))
}

function dropOldestFacts<Fact extends { readonly last: number }>(
  facts: Map<string, Fact>,
  { cap, slack }: { readonly cap: number; readonly slack: number },
): number {
  if (facts.size <= cap * slack) return 0
  const oldest = [...facts].toSorted(([, a], [, b]) => a.last - b.last).slice(0, facts.size - cap)
  for (const [key] of oldest) facts.delete(key)
  return oldest.length
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
 * The path under which a file is known: a relative path is that of the one absolute path seen before that ends with it,
 * if there is exactly one. A bare name could be any file's.
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

/** The last few, newest last; a range seen again moves to the end. */
function lastRanges(known: readonly Lines[] | undefined, more: readonly Lines[]): readonly Lines[] {
  const all = [...(known ?? []), ...more]
  const isLater = (range: Lines, index: number) =>
    all.findLastIndex(([from, to]) => from === range[0] && to === range[1]) === index
  return all.filter(isLater).slice(-rangesKept)
}
