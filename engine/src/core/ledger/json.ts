// The ledger in a boundary's metadata: plain JSON of bounded size. Reading takes whatever is there: a part that is not
// what it should be is left out, never an error.
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../message/json.ts'
import { headOf } from '../text/cut.ts'
import type {
  CommandFact,
  Commit,
  ErrorFact,
  Exchange,
  FileAct,
  FileFact,
  Ledger,
  Lines,
  Purpose,
  RepositoryFact,
  Rule,
  Todo,
  TodoStatus,
  WordKind,
} from './facts.ts'
import { condensed } from './report.ts'
import { mostTelling } from './state.ts'
import { withoutSteps } from './steps.ts'

/** A boundary is read whenever its session is opened, so what it carries is bounded. */
const storedCharacters = 48_000
const storedFiles = 200
const leastStored = 30
const storedReport = 1_500
const oldReport = 240

export function toJson(ledger: Ledger): JsonObject {
  return { ...ledger, exchanges: storedExchanges(ledger.exchanges), files: newest(ledger.files, storedFiles) }
}

/** The older half of what was reported is kept in a sentence or two; then what was dealt with long ago goes. */
function storedExchanges(exchanges: readonly Exchange[]): readonly Exchange[] {
  const size = (list: readonly Exchange[]) =>
    list.reduce(
      (sum, { text, about = '', report = '', done = '' }) =>
        sum + text.length + about.length + report.length + done.length,
      0,
    )
  const half = Math.floor(exchanges.length / 2)
  const reported = (isTight: boolean) =>
    exchanges
      .map(withoutSteps)
      .map((exchange, at) =>
        exchange.report === undefined
          ? exchange
          : { ...exchange, report: condensed(exchange.report, isTight && at < half ? oldReport : storedReport) },
      )
  let kept: readonly Exchange[] = reported(false)
  if (size(kept) > storedCharacters) kept = reported(true)
  while (size(kept) > storedCharacters && kept.length > leastStored) {
    kept = mostTelling(kept, Math.max(leastStored, Math.floor(kept.length * 0.9)))
  }
  return kept
}

function newest<Fact extends { readonly last: number }>(facts: readonly Fact[], count: number): readonly Fact[] {
  if (facts.length <= count) return facts
  // Of those of one moment the first go, as everywhere.
  const gone = new Set(facts.toSorted((a, b) => a.last - b.last).slice(0, facts.length - count))
  return facts.filter((fact) => !gone.has(fact))
}

export function fromJson(value: unknown): Ledger {
  const root = textAt(value, 'root')
  const olderRules = whole(value, 'olderRules')
  const messages = whole(value, 'messages')
  // What it says was said before whatever comes next.
  const exchanges = read(value, 'exchanges', readExchange).map((exchange) =>
    exchange.last < messages ? exchange : { ...exchange, last: Math.max(0, messages - 1) },
  )
  return {
    messages,
    ...(root === undefined ? {} : { root }),
    exchanges,
    rules: read(value, 'rules', readRule),
    ...(olderRules === 0 ? {} : { olderRules }),
    files: read(value, 'files', readFile),
    commands: read(value, 'commands', readCommand),
    errors: read(value, 'errors', readError),
    todos: read(value, 'todos', readTodo),
    commits: read(value, 'commits', readCommit),
    repository: readRepository(objectAt(value, 'repository')),
  }
}

function read<Fact>(value: unknown, key: string, fact: (item: JsonObject) => Fact | undefined): readonly Fact[] {
  return arrayAt(value, key)
    .filter(isObject)
    .map(fact)
    .filter((found) => found !== undefined)
}

/** Longer than anything that is ever stored: a text without end was put there by somebody else. */
const longestText = 1_000
const longestSaid = 8_000

function textAt(value: unknown, key: string, longest = longestText): string | undefined {
  const text = stringAt(value, key)
  return text === undefined ? undefined : headOf(text, longest)
}

function textsAt(value: unknown, key: string): readonly string[] {
  return stringsAt(value, key).map((text) => headOf(text, longestText))
}

function whole(value: unknown, key: string, otherwise = 0): number {
  const found = numberAt(value, key)
  return found === undefined ? otherwise : Math.floor(found)
}

function oneOf<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value)
}

const wordKinds: readonly WordKind[] = ['message', 'queued', 'rejection', 'answer', 'approval', 'task']

/** Words of unknown origin are nobody's: without a kind there is no exchange. */
function readExchange(item: JsonObject): Exchange | undefined {
  const kind = oneOf(item.kind, wordKinds)
  const text = textAt(item, 'text', longestSaid)
  if (kind === undefined || text === undefined) return undefined
  const [about, report] = [textAt(item, 'about', longestSaid), textAt(item, 'report', longestSaid)]
  const [uuid, done] = [textAt(item, 'uuid'), textAt(item, 'done')]
  return {
    kind,
    text,
    ...(about === undefined ? {} : { about }),
    ...(report === undefined ? {} : { report }),
    ...(done === undefined ? {} : { done }),
    last: whole(item, 'last'),
    ...(uuid === undefined ? {} : { uuid }),
    ...(item.lasts === true ? { lasts: true } : {}),
  }
}

function readRule(item: JsonObject): Rule | undefined {
  const text = textAt(item, 'text')
  const uuid = textAt(item, 'uuid')
  const by = oneOf(item.by, ['human', 'agent'] as const)
  if (text === undefined || by === undefined) return undefined
  return { text, by, last: whole(item, 'last'), ...(uuid === undefined ? {} : { uuid }) }
}

const acts: readonly FileAct[] = ['searched', 'read', 'edited', 'written', 'created', 'deleted']

function readFile(item: JsonObject): FileFact | undefined {
  const path = textAt(item, 'path')
  const act = oneOf(item.act, acts)
  const lines = numberAt(item, 'lines')
  if (path === undefined || act === undefined) return undefined
  return {
    path,
    reads: whole(item, 'reads'),
    changes: whole(item, 'changes'),
    created: item.created === true,
    act,
    last: whole(item, 'last'),
    changedLast: whole(item, 'changedLast', -1),
    seen: readLines(item, 'seen'),
    changed: readLines(item, 'changed'),
    ...(lines === undefined ? {} : { lines }),
  }
}

function readLines(item: JsonObject, key: string): readonly Lines[] {
  return arrayAt(item, key)
    .map((range) => (Array.isArray(range) ? range : []))
    .filter((range): range is [number, number] => typeof range[0] === 'number' && typeof range[1] === 'number')
    .map(([from, to]) => [from, to])
}

const purposes: readonly Purpose[] = ['test', 'lint', 'types', 'build', 'git', 'other']

/** No date is farther from 1970. */
const latestTime = 8.64e15

function readCommand(item: JsonObject): CommandFact | undefined {
  const text = textAt(item, 'text')
  const exit = numberAt(item, 'exit')
  const found = numberAt(item, 'time')
  const time = found !== undefined && Math.abs(found) <= latestTime ? found : undefined
  if (text === undefined) return undefined
  return {
    text,
    purpose: oneOf(item.purpose, purposes) ?? 'other',
    last: whole(item, 'last'),
    ...(time === undefined ? {} : { time }),
    ...(exit === undefined ? {} : { exit }),
    ended: oneOf(item.ended, ['well', 'badly', 'unfinished'] as const) ?? 'unfinished',
    outcome: textAt(item, 'outcome') ?? '',
  }
}

function readError(item: JsonObject): ErrorFact | undefined {
  const what = textAt(item, 'what')
  const line = textAt(item, 'line')
  const cause = textAt(item, 'cause')
  if (what === undefined || line === undefined) return undefined
  const fixedBy = Array.isArray(item.fixedBy) ? { fixedBy: textsAt(item, 'fixedBy') } : {}
  return { what, line, last: whole(item, 'last'), ...(cause === undefined ? {} : { cause }), ...fixedBy }
}

const statuses: readonly TodoStatus[] = ['pending', 'in-progress', 'done']

function readTodo(item: JsonObject): Todo | undefined {
  const id = textAt(item, 'id')
  const text = textAt(item, 'text')
  if (id === undefined || text === undefined) return undefined
  return { id, text, status: oneOf(item.status, statuses) ?? 'pending' }
}

function readCommit(item: JsonObject): Commit | undefined {
  const hash = stringAt(item, 'hash') ?? ''
  if (!/^[0-9a-f]{7,40}$/.test(hash)) return undefined
  return { hash, title: textAt(item, 'title') ?? '', last: whole(item, 'last') }
}

function readRepository(item: JsonObject | undefined): RepositoryFact {
  const branch = textAt(item, 'branch')
  return {
    ...(branch === undefined ? {} : { branch }),
    staged: textsAt(item, 'staged'),
    unstaged: textsAt(item, 'unstaged'),
    untracked: textsAt(item, 'untracked'),
    statusLast: whole(item, 'statusLast', -1),
    touchedLast: whole(item, 'touchedLast', -1),
    pushedLast: whole(item, 'pushedLast', -1),
    gitLast: whole(item, 'gitLast', -1),
  }
}
