// The ledger in a boundary's metadata: plain JSON of bounded size. Reading never fails: an invalid fact is left out.
import {
  arrayAt,
  defined,
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  stringAt,
  stringsAt,
} from '../message/json.ts'
import { condensed, headOf } from '../text/cut.ts'
import { actions } from '../tools/actions.ts'
import {
  type CommandFact,
  type Commit,
  type ErrorFact,
  type Exchange,
  emptyLedger,
  type FileFact,
  type Ledger,
  type RepositoryFact,
  type Rule,
  type Todo,
} from './facts.ts'
import { mostTelling } from './state.ts'
import { withoutSteps } from './steps.ts'

/**
 * Maximum characters of all exchanges, because a boundary is read whenever its session is opened. At least 30 exchanges are
 * kept.
 */
const storedCharacters = 48_000
const minStored = 30
const storedReport = 1_500
const oldReport = 240

/**
 * A report of 9,000 characters is stored in about 1,500. If all exchanges together are still too long, the reports of the older
 * half are cut to a sentence or two. Then the least telling exchanges are dropped.
 */
export function toJson(ledger: Ledger): JsonObject {
  const { exchanges } = ledger
  const size = (list: readonly Exchange[]) =>
    list.flatMap(({ text, about = '', report = '', done = '' }) => [text, about, report, done]).join('').length
  const half = Math.floor(exchanges.length / 2)
  const shortened = (list: readonly Exchange[], max: number) =>
    list.map((one) => (one.report === undefined ? one : { ...one, report: condensed(one.report, max) }))
  let kept: readonly Exchange[] = shortened(exchanges.map(withoutSteps), storedReport)
  if (size(kept) > storedCharacters) kept = [...shortened(kept.slice(0, half), oldReport), ...kept.slice(half)]
  while (size(kept) > storedCharacters && kept.length > minStored) {
    kept = mostTelling(kept, Math.max(minStored, Math.floor(kept.length * 0.9)))
  }
  return { ...ledger, exchanges: kept }
}

export function fromJson(value: unknown): Ledger {
  const messages = Math.max(0, Math.floor(numberAt(value, 'messages') ?? 0))
  const olderRules = numberAt(value, 'olderRules') ?? 0
  const all = <Fact>(key: keyof Ledger, read: (item: unknown) => Fact | undefined) =>
    arrayAt(value, key)
      .map(read)
      .filter((fact) => fact !== undefined)
  return {
    messages,
    ...defined({ root: stringAt(value, 'root')?.slice(0, maxText), todosLast: numberAt(value, 'todosLast') }),
    // No time is later than the next message.
    exchanges: all('exchanges', readExchange).map((exchange) => ({
      ...exchange,
      last: Math.max(0, Math.min(exchange.last, messages - 1)),
    })),
    ...(isObject(value) && value.isAnswered === true ? { isAnswered: true } : {}),
    rules: all('rules', readRule),
    ...(olderRules > 0 ? { olderRules } : {}),
    files: all('files', readFile),
    commands: all('commands', readCommand),
    errors: all('errors', readError),
    todos: all('todos', readTodo),
    // A commit with the hash "not a hash" is left out.
    commits: all('commits', readCommit).filter(({ hash }) => /^[0-9a-f]{7,40}$/.test(hash)),
    repository: readRepository(objectAt(value, 'repository')),
  }
}

/** A valid field has the type of this value, or is one of these words. */
type Example = string | number | boolean | readonly string[]

/** We never store a longer text, so somebody else wrote it. Only this many characters of it are read. */
const maxText = 1_000
const maxSaid = 8_000
/** The largest date in milliseconds: `time: 1e300` is left out. */
const latestTime = 8.64e15

function isLike(value: unknown, example: Example): boolean {
  if (typeof example === 'object') return typeof value === 'string' && example.includes(value)
  return typeof value === typeof example && (typeof value !== 'number' || Math.abs(value) <= latestTime)
}

type OptionalKeys<T> = { [Key in keyof T]-?: undefined extends T[Key] ? Key : never }[keyof T]
type Examples<T, Keys extends keyof T> = { readonly [Key in Keys]: Example }

/** `{ path: 'a.ts', last: 3 }` → a file; `{ path: 'a.ts' }` and `{ path: 3, last: 3 }` → undefined. `optional` fields may be missing. */
function factOf<T>(
  required: Examples<T, Exclude<keyof T, OptionalKeys<T>>>,
  optional: Examples<T, OptionalKeys<T>>,
  longest = maxText,
) {
  return (item: unknown): T | undefined => {
    if (!isObject(item)) return undefined
    const read = Object.entries<Example>({ ...required, ...optional })
      .filter(([key, example]) => isLike(item[key], example))
      .map(([key]) => [key, typeof item[key] === 'string' ? headOf(item[key], longest) : item[key]])
    const fact: JsonObject = Object.fromEntries(read)
    return Object.keys(required).every((key) => key in fact) ? (fact as T) : undefined
  }
}

const kinds = ['message', 'queued', 'rejection', 'answer', 'approval', 'task'] as const
const readExchange = factOf<Omit<Exchange, 'steps'>>(
  { kind: kinds, text: '', last: 0 },
  { about: '', report: '', done: '', uuid: '', lasts: true },
  maxSaid,
)
const readRule = factOf<Rule>({ text: '', by: ['human', 'agent'], last: 0 }, { uuid: '' })
const readFile = factOf<FileFact>({ path: '', last: 0 }, {})
const readRun = factOf<Omit<CommandFact, 'actions'>>(
  { text: '', last: 0, ended: ['well', 'badly', 'unfinished'], outcome: '' },
  { time: 0, exit: 0, isRunning: true, isLate: true, failed: actions, hasSucceeded: true },
)

function readCommand(item: unknown): CommandFact | undefined {
  const run = readRun(item)
  const known = stringsAt(item, 'actions')
  const done = actions.filter((action) => known.includes(action))
  return run && { ...run, ...(done.length === 0 ? {} : { actions: done }) }
}

const readError = factOf<ErrorFact>({ what: '', line: '', last: 0, isFixed: false }, { cause: '' })
const readTodo = factOf<Todo>({ id: '', text: '', status: ['pending', 'in-progress', 'done'] }, {})
const readCommit = factOf<Commit>({ hash: '', title: '', last: 0 }, {})
type Lists = 'staged' | 'unstaged' | 'untracked'
const readTimes = factOf<Partial<Omit<RepositoryFact, Lists>>>(
  {},
  { branch: '', statusLast: -1, touchedLast: -1, pushedLast: -1, gitLast: -1 },
)

function readRepository(value: JsonObject | undefined): RepositoryFact {
  const texts = (key: string) => stringsAt(value, key).map((text) => headOf(text, maxText))
  return {
    ...emptyLedger.repository,
    ...readTimes(value),
    staged: texts('staged'),
    unstaged: texts('unstaged'),
    untracked: texts('untracked'),
  }
}
