// A ledger while it is being written: facts by key, and calls that wait for their result. Every list is bounded, so a
// session of any length stays small.
import { defined } from '../message/json.ts'
import { dropOldest } from '../message/maps.ts'
import { plainWords } from '../text/plain-words.ts'
import { type ActionsRun, checks } from '../tools/actions.ts'
import { pathKey, type ToolCall } from '../tools/call.ts'
import type { CommandFact, ErrorFact, Exchange, Ledger, RepositoryFact } from './facts.ts'

export type State = ReturnType<typeof createState>

/** Maximum number of facts of each kind. */
export const caps = {
  exchanges: 500,
  rules: 120,
  files: 200,
  commands: 60,
  errors: 60,
  commits: 100,
  todos: 60,
  calls: 256,
} as const

export function createState(from: Ledger) {
  const byKey = <Fact>(facts: readonly Fact[], key: (fact: Fact) => string) =>
    new Map(facts.map((fact) => [key(fact), fact]))
  return {
    ...from,
    root: from.root,
    exchanges: [...from.exchanges],
    rules: byKey(from.rules, ({ text }) => plainWords(text)),
    isAnswered: from.isAnswered,
    olderRules: from.olderRules ?? 0,
    files: byKey(from.files, ({ path }) => pathKey(path, from.root)),
    commands: byKey(from.commands, commandKey),
    errors: byKey(from.errors, errorKey),
    commits: byKey(from.commits, ({ hash }) => hash),
    repository: { ...from.repository } as { -readonly [Key in keyof RepositoryFact]: RepositoryFact[Key] },
    /** Calls whose result has not arrived yet. */
    calls: new Map<string, ToolCall>(),
    /** Background commands, by the id that the client gave them. */
    background: new Map<string, { line: string; verifies: boolean; actions: ActionsRun }>(),
    /** The last output of each program for each ending, by ending and program: "badly make". */
    printed: new Map<string, readonly string[]>(),
    /** The error that the agent's next words may explain. */
    unexplained: undefined as string | undefined,
    /** The agent's latest words since the user spoke. */
    agentText: '',
  }
}

/**
 * `npm test a` and `npm test b` are two commands. `git commit -m a` and `git commit -m b` verify nothing, so only the latest is
 * kept.
 */
export function commandKey({ text, actions = [], isRunning }: CommandFact): string {
  const verifies = actions.length === 0 || actions.some((action) => checks.has(action))
  return verifies || isRunning ? text : actions.join(' ')
}

export function ledgerOf(state: State): Ledger {
  trim(state)
  return {
    messages: state.messages,
    ...defined({ root: state.root, todosLast: state.todosLast }),
    exchanges: [...mostTelling(state.exchanges, caps.exchanges)],
    ...(state.isAnswered ? { isAnswered: true } : {}),
    rules: [...state.rules.values()],
    ...(state.olderRules === 0 ? {} : { olderRules: state.olderRules }),
    files: [...state.files.values()],
    commands: [...state.commands.values()],
    errors: [...state.errors.values()],
    todos: state.todos,
    commits: [...state.commits.values()],
    repository: { ...state.repository },
  }
}

/**
 * Drops the oldest facts. A fact that is set again moves to the end. Exchanges are ranked only when their number exceeds twice
 * the cap, so each costs constant time.
 */
export function trim(state: State): void {
  if (state.exchanges.length > caps.exchanges * 2) state.exchanges = [...mostTelling(state.exchanges, caps.exchanges)]
  state.olderRules += Math.max(0, state.rules.size - caps.rules)
  for (const kind of ['rules', 'files', 'commands', 'errors', 'commits'] as const) dropOldest(state[kind], caps[kind])
}

/** This many of the newest exchanges are dropped last. */
const newestKept = 20
/** Characters beyond this do not count: a report of 5,000 is worth as much as one of 500. */
const maxCounted = 400

/**
 * Sorts exchanges in the order in which they are dropped: finished requests before lasting statements, short exchanges before
 * long ones, older before newer. An action that was repeated later does not count. The newest exchanges and the very first come
 * last. "Go on" → "Done." is dropped before "Sort the orders" → "Sorted, in src/orders.ts", and that before "We keep the queue
 * in Postgres."
 */
export function leastTelling(exchanges: readonly Exchange[]): readonly Exchange[] {
  const lastDone = new Map(exchanges.map((exchange) => [exchange.done, exchange]))
  const worth = (exchange: Exchange) => {
    const { lasts, text, report = '', done = '' } = exchange
    const own = lastDone.get(exchange.done) === exchange ? done.length : 0
    return (lasts ? maxCounted : 0) + Math.min(maxCounted, text.length + report.length + own)
  }
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

/** Maximum characters of a path. A longer text is no path, and neither is one with a line break, as in `cat <<EOF`. */
const maxPath = 400

/** Notes that the session changed this file. */
export function noteFile(state: State, path: string): void {
  if (path.length > maxPath || path.includes('\n')) return
  const key = pathKey(path, state.root)
  const known = state.files.get(key)?.path ?? path
  state.files.delete(key) // Set again, so that the file changed last is last.
  state.files.set(key, { path: known, last: state.messages })
  noteTouched(state)
}

/** Notes that files of the repository may have changed. */
export function noteTouched(state: State): void {
  state.repository.touchedLast = state.messages
}

/** "gate.ts:12: 3 errors" and "gate.ts:14: 2 errors" are one error. */
function errorKey({ what, line }: Pick<ErrorFact, 'what' | 'line'>): string {
  return `${what}\n${line.replace(/\d+/g, '0')}`
}

/**
 * The call did not run or was stopped. That is no error in the work: "The user doesn't want to proceed", "Request interrupted
 * by user", "Sibling tool call errored".
 */
export const notOurs =
  /^(?:The user doesn't want|User rejected|\[Request interrupted|Request interrupted|Permission to use|Cancelled|Sibling tool call|Interrupted by user)|No such tool available/i

export function noteError(state: State, { what, line }: Pick<ErrorFact, 'what' | 'line'>): void {
  if (line === '' || notOurs.test(line)) return
  const key = errorKey({ what, line })
  const cause = state.errors.get(key)?.cause
  state.errors.delete(key) // Set again, so that the latest error is last.
  state.errors.set(key, { what, line, last: state.messages, ...(cause ? { cause } : {}), isFixed: false })
  state.unexplained = key
}

/** `npm test` failed with "3 failed", and `npm test` ended well → the error is fixed. */
export function noteFixed(state: State, hasSucceeded: (what: string) => boolean): void {
  for (const [key, error] of state.errors) {
    if (error.isFixed || !hasSucceeded(error.what)) continue
    state.errors.set(key, { ...error, isFixed: true })
    // The agent's next words are about something else.
    if (state.unexplained === key) state.unexplained = undefined
  }
}

/** `make` failed, "The rule is missing." → that is the cause. Only the agent's first words after an error explain it. */
export function noteCause(state: State, cause: string): void {
  const { unexplained = '' } = state
  const error = state.errors.get(unexplained)
  if (error) state.errors.set(unexplained, { ...error, cause })
  state.unexplained = undefined
}
