// The ledger in a boundary's metadata: plain JSON, names as rows because there are many. Reading takes whatever is
// there: a part that is not what it should be is left out, never an error.
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../message/json.ts'
import { best, storedCaps, typedCharacters } from './caps.ts'
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
  Purpose,
  RepositoryFact,
  Saying,
  Todo,
  TodoStatus,
  Tracking,
  Typed,
  UrlFact,
} from './facts.ts'
import { commandScore, errorScore, fileScore, nameScore, typedRank, urlScore } from './rank.ts'
import { oneLine } from './text.ts'

/** Homes are many times the same, so names point into a list of them. */
export function toJson(ledger: Ledger): JsonObject {
  const now = ledger.messages
  const names = best(ledger.names, { keep: storedCaps.names, score: (fact) => nameScore(fact, now) })
  const homes = [...new Map(names.map(({ home }) => [homeKey(home), home])).values()]
  const places = new Map(homes.map((home, index) => [homeKey(home), index]))
  const { names: _, ...rest } = ledger
  return {
    ...rest,
    files: best(ledger.files, { keep: storedCaps.files, score: (fact) => fileScore(fact, now) }),
    commands: best(ledger.commands, { keep: storedCaps.commands, score: (fact) => commandScore(fact, now) }),
    errors: best(ledger.errors, { keep: storedCaps.errors, score: (fact) => errorScore(fact, now) }),
    urls: best(ledger.urls, { keep: storedCaps.urls, score: (fact) => urlScore(fact, now) }),
    typed: storedTyped(ledger),
    homes,
    names: names.map((fact) => [
      fact.name,
      fact.times,
      fact.written,
      fact.last,
      fact.writtenLast,
      (fact.asked ? 1 : 0) + (fact.inError ? 2 : 0),
      places.get(homeKey(fact.home)) ?? 0,
      fact.homeRank,
    ]),
  }
}

function homeKey(home: Home): string {
  return `${home.type} ${home.name}`
}

export function fromJson(value: unknown): Ledger {
  const root = stringAt(value, 'root')
  const olderConstraints = whole(value, 'olderConstraints')
  return {
    messages: whole(value, 'messages'),
    ...(root === undefined ? {} : { root }),
    files: read(value, 'files', readFile),
    commands: read(value, 'commands', readCommand),
    errors: read(value, 'errors', readError),
    urls: read(value, 'urls', readUrl),
    typed: read(value, 'typed', readTyped),
    constraints: read(value, 'constraints', readSaying),
    ...(olderConstraints === 0 ? {} : { olderConstraints }),
    decisions: read(value, 'decisions', readSaying),
    todos: read(value, 'todos', readTodo),
    commits: read(value, 'commits', readCommit),
    repository: readRepository(objectAt(value, 'repository')),
    names: readNames(value),
  }
}

function read<Fact>(value: unknown, key: string, fact: (item: JsonObject) => Fact | undefined): readonly Fact[] {
  return arrayAt(value, key)
    .filter(isObject)
    .map(fact)
    .filter((found) => found !== undefined)
}

function whole(value: unknown, key: string, otherwise = 0): number {
  const found = numberAt(value, key)
  return found === undefined ? otherwise : Math.floor(found)
}

function oneOf<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value)
}

const acts: readonly FileAct[] = ['searched', 'read', 'edited', 'written', 'created', 'deleted']

function readFile(item: JsonObject): FileFact | undefined {
  const path = stringAt(item, 'path')
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

function readCommand(item: JsonObject): CommandFact | undefined {
  const text = stringAt(item, 'text')
  const exit = numberAt(item, 'exit')
  if (text === undefined) return undefined
  return {
    text,
    purpose: oneOf(item.purpose, purposes) ?? 'other',
    runs: whole(item, 'runs', 1),
    last: whole(item, 'last'),
    ...(exit === undefined ? {} : { exit }),
    ended: oneOf(item.ended, ['well', 'badly', 'unfinished'] as const) ?? 'unfinished',
    outcome: stringAt(item, 'outcome') ?? '',
    failures: stringsAt(item, 'failures'),
  }
}

function readError(item: JsonObject): ErrorFact | undefined {
  const what = stringAt(item, 'what')
  const line = stringAt(item, 'line')
  if (what === undefined || line === undefined) return undefined
  const fix = Array.isArray(item.fix) ? { fix: stringsAt(item, 'fix') } : {}
  return { what, line, times: whole(item, 'times', 1), last: whole(item, 'last'), ...fix }
}

function readUrl(item: JsonObject): UrlFact | undefined {
  const url = stringAt(item, 'url')
  const how = oneOf(item.how, ['fetched', 'failed', 'named', 'seen'] as const) ?? 'seen'
  return url === undefined ? undefined : { url, times: whole(item, 'times', 1), last: whole(item, 'last'), how }
}

/** The first and those that stay longest, within a number of characters: a boundary is read whenever its session is opened. */
function storedTyped({ typed, messages }: Ledger): readonly Typed[] {
  let left: number = typedCharacters.stored
  const isIn = ({ text }: Typed) => {
    if (text.length > left) return false
    left -= text.length
    return true
  }
  const [first, ...later] = typed
  const ranked = later.toSorted((a, b) => typedRank(b, messages) - typedRank(a, messages))
  const kept = new Set((first ? [first, ...ranked.slice(0, storedCaps.typed - 1)] : []).filter(isIn))
  return typed.filter((fact) => kept.has(fact))
}

function readTyped(item: JsonObject): Typed | undefined {
  const text = stringAt(item, 'text')
  const uuid = stringAt(item, 'uuid')
  if (text === undefined) return undefined
  return {
    text,
    last: whole(item, 'last'),
    ...(uuid === undefined ? {} : { uuid }),
    ...(item.isCut === true ? { isCut: true } : {}),
    ...(item.tells === true ? { tells: true } : {}),
  }
}

function readSaying(item: JsonObject): Saying | undefined {
  const text = stringAt(item, 'text')
  const uuid = stringAt(item, 'uuid')
  // Words of unknown origin are nobody's rule: without a speaker there is no saying.
  const by = oneOf(item.by, ['human', 'assistant'] as const)
  if (text === undefined || by === undefined) return undefined
  return { text, by, last: whole(item, 'last'), ...(uuid === undefined ? {} : { uuid }) }
}

const statuses: readonly TodoStatus[] = ['pending', 'in-progress', 'done']

function readTodo(item: JsonObject): Todo | undefined {
  const id = stringAt(item, 'id')
  const text = stringAt(item, 'text')
  if (id === undefined || text === undefined) return undefined
  return { id, text, status: oneOf(item.status, statuses) ?? 'pending' }
}

function readCommit(item: JsonObject): Commit | undefined {
  const hash = stringAt(item, 'hash')
  if (hash === undefined) return undefined
  return { hash, title: stringAt(item, 'title') ?? '', last: whole(item, 'last') }
}

function readRepository(item: JsonObject | undefined): RepositoryFact {
  const branch = stringAt(item, 'branch')
  const tracking = objectAt(item, 'tracking')
  return {
    ...(branch === undefined ? {} : { branch }),
    ...(tracking === undefined ? {} : { tracking: readTracking(tracking) }),
    staged: stringsAt(item, 'staged'),
    unstaged: stringsAt(item, 'unstaged'),
    untracked: stringsAt(item, 'untracked'),
    statusLast: whole(item, 'statusLast', -1),
    touchedLast: whole(item, 'touchedLast', -1),
    pushedLast: whole(item, 'pushedLast', -1),
  }
}

function readTracking(item: JsonObject): Tracking {
  const branch = stringAt(item, 'branch')
  const upstream = stringAt(item, 'upstream')
  const ahead = numberAt(item, 'ahead')
  const behind = numberAt(item, 'behind')
  return {
    ...(branch === undefined ? {} : { branch }),
    ...(upstream === undefined ? {} : { upstream }),
    ...(ahead === undefined ? {} : { ahead }),
    ...(behind === undefined ? {} : { behind }),
  }
}

function readNames(value: unknown): readonly NameFact[] {
  const homes = arrayAt(value, 'homes').map(readHome)
  return arrayAt(value, 'names')
    .map((row) => (Array.isArray(row) ? readName(row, homes) : undefined))
    .filter((fact) => fact !== undefined)
}

function readName(row: readonly unknown[], homes: readonly (Home | undefined)[]): NameFact | undefined {
  const [name, ...numbers] = row
  const [times = 1, written = 0, last = 0, writtenLast = -1, flags = 0, place = -1, homeRank = 0] = numbers.map(Number)
  const home = homes[place]
  // Names go to the page as they are: one that is not a plain word is none of ours.
  if (
    typeof name !== 'string' ||
    oneLine(name, 400) !== name ||
    home === undefined ||
    numbers.some((number) => !Number.isFinite(number))
  )
    return undefined
  const asked = (flags & 1) !== 0
  return { name, times, written, last, writtenLast, asked, inError: (flags & 2) !== 0, home, homeRank }
}

const talkers = ['human', 'assistant', 'summary', 'context', 'agent'] as const

function readHome(item: unknown): Home | undefined {
  const type = stringAt(item, 'type')
  const name = stringAt(item, 'name')
  if (name === undefined) return undefined
  if (type === 'file' || type === 'command') return { type, name }
  const talker = oneOf(name, talkers)
  return type === 'talk' && talker !== undefined ? { type, name: talker } : undefined
}
