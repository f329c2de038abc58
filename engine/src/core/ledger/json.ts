// The ledger in a boundary's metadata: plain JSON of bounded size. Reading takes whatever is there: a part that is not
// what it should be is left out, never an error.
import { arrayAt, isObject, type JsonObject, numberAt } from '../message/json.ts'
import { condensed } from '../text/condense.ts'
import { headOf } from '../text/cut.ts'
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

/** A boundary is read whenever its session is opened, so what it carries is bounded. */
const storedCharacters = 48_000
const leastStored = 30
const storedReport = 1_500
const oldReport = 240

/** The older half of the reports shrinks to a sentence or two; then what was dealt with long ago goes. */
export function toJson(ledger: Ledger): JsonObject {
  const { exchanges } = ledger
  const size = (list: readonly Exchange[]) =>
    list.reduce(
      (sum, { text, about = '', report = '', done = '' }) =>
        sum + text.length + about.length + report.length + done.length,
      0,
    )
  const half = Math.floor(exchanges.length / 2)
  const stored = (isTight: boolean) =>
    exchanges.map(withoutSteps).map((exchange, at) => {
      if (exchange.report === undefined) return exchange
      return { ...exchange, report: condensed(exchange.report, isTight && at < half ? oldReport : storedReport) }
    })
  let kept: readonly Exchange[] = stored(false)
  if (size(kept) > storedCharacters) kept = stored(true)
  while (size(kept) > storedCharacters && kept.length > leastStored) {
    kept = mostTelling(kept, Math.max(leastStored, Math.floor(kept.length * 0.9)))
  }
  return { ...ledger, exchanges: kept }
}

export function fromJson(value: unknown): Ledger {
  const { messages = 0, olderRules = 0, root, isAnswered } = readTotals(value) ?? {}
  const all = <Fact>(key: keyof Ledger, read: (item: unknown) => Fact | undefined) =>
    (isObject(value) ? arrayAt(value, key) : []).map(read).filter((fact) => fact !== undefined)
  return {
    messages,
    ...(root === undefined ? {} : { root }),
    // What it says was said before whatever comes next.
    exchanges: all('exchanges', readExchange).map((exchange) =>
      exchange.last < messages ? exchange : { ...exchange, last: Math.max(0, messages - 1) },
    ),
    ...(isAnswered ? { isAnswered } : {}),
    rules: all('rules', readRule),
    ...(olderRules === 0 ? {} : { olderRules }),
    files: all('files', readFile),
    commands: all('commands', readCommand),
    errors: all('errors', readError),
    todos: all('todos', readTodo),
    commits: all('commits', readCommit),
    repository: (isObject(value) ? readRepository(value.repository) : undefined) ?? emptyLedger.repository,
  }
}

type Field<T> = (value: unknown) => T | undefined
type Fields<T> = { readonly [Key in keyof T]-?: Field<T[Key]> }

/** Reads an object field by field; there is none where one of the `needed` fields cannot be read. */
function shape<T extends object>(fields: Fields<T>, needed: readonly (keyof T & string)[] = []): Field<T> {
  return (item) => {
    if (!isObject(item)) return undefined
    const found: JsonObject = Object.fromEntries(
      Object.entries<Field<unknown>>(fields)
        .map(([key, read]) => [key, read(item[key])] as const)
        .filter(([, value]) => value !== undefined),
    )
    return needed.every((key) => found[key] !== undefined) ? (found as T) : undefined
  }
}

/** Longer than anything that is ever stored: a text without end was put there by somebody else. */
const longestText = 1_000
const longestSaid = 8_000

function text(most: number): Field<string> {
  return (value) => (typeof value === 'string' ? headOf(value, most) : undefined)
}

function whole(otherwise: number): Field<number> {
  return (value) => (typeof value === 'number' && Number.isFinite(value) ? Math.floor(value) : otherwise)
}

function oneOf<Word extends string>(...words: readonly Word[]): Field<Word> {
  return (value) => words.find((word) => word === value)
}

const short = text(longestText)
const time = whole(0)
const maybeTime = whole(-1)
const none = () => undefined
const flag: Field<true> = (value) => (value === true ? true : undefined)
const texts: Field<readonly string[]> = (value) =>
  (Array.isArray(value) ? value : []).map(short).filter((item) => item !== undefined)

const readTotals = shape<Pick<Ledger, 'messages' | 'olderRules' | 'root' | 'isAnswered'>>({
  messages: time,
  olderRules: time,
  root: short,
  isAnswered: flag,
})

/** Words of unknown origin are nobody's: without a kind there is no exchange. */
const readExchange = shape<Exchange>(
  {
    kind: oneOf('message', 'queued', 'rejection', 'answer', 'approval', 'task'),
    text: text(longestSaid),
    about: text(longestSaid),
    report: text(longestSaid),
    steps: none,
    done: short,
    last: time,
    uuid: short,
    lasts: flag,
  },
  ['kind', 'text'],
)

const readRule = shape<Rule>({ text: short, by: oneOf('human', 'agent'), last: time, uuid: short }, ['text', 'by'])

const readChangedFile = shape<FileFact>({ path: short, created: (value) => value === true, last: time }, ['path'])

/** Earlier versions also kept files that were only read, and told them apart by `changedLast`. */
function readFile(item: unknown): FileFact | undefined {
  if (!isObject(item) || item.act === undefined) return readChangedFile(item)
  const last = numberAt(item, 'changedLast') ?? -1
  return last < 0 ? undefined : readChangedFile({ ...item, last })
}

/** No date is farther from 1970. */
const latestTime = 8.64e15

const readCommand = shape<CommandFact>(
  {
    text: short,
    last: time,
    time: (value) => (typeof value === 'number' && Math.abs(value) <= latestTime ? value : undefined),
    exit: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
    ended: (value) => oneOf('well', 'badly', 'unfinished')(value) ?? 'unfinished',
    outcome: (value) => short(value) ?? '',
  },
  ['text'],
)

const readErrorFact = shape<ErrorFact>(
  { what: short, line: short, last: time, cause: short, isFixed: (value) => value === true },
  ['what', 'line'],
)

/** Earlier versions listed the files that were changed before it worked. */
function readError(item: unknown): ErrorFact | undefined {
  return readErrorFact(isObject(item) && Array.isArray(item.fixedBy) ? { ...item, isFixed: true } : item)
}

const readTodo = shape<Todo>(
  { id: short, text: short, status: (value) => oneOf('pending', 'in-progress', 'done')(value) ?? 'pending' },
  ['id', 'text'],
)

const readCommit = shape<Commit>(
  {
    hash: (value) => (typeof value === 'string' && /^[0-9a-f]{7,40}$/.test(value) ? value : undefined),
    title: (value) => short(value) ?? '',
    last: time,
  },
  ['hash'],
)

const readRepository = shape<RepositoryFact>({
  branch: short,
  staged: texts,
  unstaged: texts,
  untracked: texts,
  statusLast: maybeTime,
  touchedLast: maybeTime,
  pushedLast: maybeTime,
  gitLast: maybeTime,
})
