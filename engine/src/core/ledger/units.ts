// What can be put on the page, each with what it is worth and what it costs: lines of commands, errors, decisions and
// state; headings of files and other homes; the names under them.
import type { CommandFact, FileFact, Home, Ledger } from './facts.ts'
import {
  commandLine,
  commitLine,
  decisionLine,
  errorLine,
  fileHead,
  folderLine,
  homeHead,
  repositoryLines,
  todoLine,
  urlLine,
} from './lines.ts'
import { type NameCache, namesIn } from './names.ts'
import { shortPaths, wholePaths } from './paths.ts'
import { chanceOf, fileScore, fileWorth, type Lasting, lastingOf, recency, urlWorth } from './rank.ts'

export type Section =
  | 'constraints'
  | 'todos'
  | 'repository'
  | 'verification'
  | 'errors'
  | 'decisions'
  | 'files'
  | 'commands'
  | 'names'
  | 'urls'

/** A line of its own. Worth is counted in names that are certain to be needed. */
export type LineUnit = {
  readonly type: 'line'
  /** Of the ledger's page, or of whatever page is filled. */
  readonly section: string
  readonly order: number
  readonly text: string
  readonly cost: number
  /** The names in it included. */
  readonly worth: number
  /** What it is worth as a memory of an earlier round; absent where it is none. */
  readonly lasting?: number
  readonly names: readonly { readonly name: string; readonly chance: number }[]
}

/** A file or another place that names belong to: one line, with its names behind it. */
export type HomeUnit = {
  readonly type: 'home'
  readonly key: string
  readonly section: 'files' | 'names'
  readonly order: number
  readonly text: string
  readonly cost: number
  readonly worth: number
  readonly lasting?: number
}

export type NameUnit = {
  readonly type: 'name'
  readonly text: string
  readonly cost: number
  readonly worth: number
  readonly lasting?: number
  readonly home: HomeUnit
}

/** A line before it is weighed: its worth is what it says beside the names in it. */
export type Line = Omit<LineUnit, 'type' | 'names' | 'cost'>

export type Unit = LineUnit | HomeUnit | NameUnit

export type Pricing = {
  /** The larger it is, the more ranges of lines a file shows. */
  readonly budget: number
  /** What was last met before this message is a memory of an earlier round. Default 0: there was none. */
  readonly since?: number
  /** What stands on the page in any case: a sentence that it holds word for word is not told again. */
  readonly said?: string
  readonly cost: (text: string) => number
}

/**
 * The ledger's units, and those of other lines that share its page. A name is paid with the space before it, anything
 * else with the end of its line.
 */
export function unitsOf(
  ledger: Ledger,
  { budget, cost, since = 0, said = '' }: Pricing,
  more: readonly Line[] = [],
): readonly Unit[] {
  const chances = new Map(ledger.names.map((fact) => [fact.name, worthOfName * chanceOf(fact, ledger.messages)]))
  const cache: NameCache = new Map()
  const lines = [...lineUnits(ledger, { since, said }), ...more].map((line): LineUnit => {
    const names = [...namesIn(line.text, cache)].map((name) => ({ name, chance: chances.get(name) ?? 0 }))
    return {
      type: 'line',
      ...line,
      names,
      cost: cost(`${line.text}\n`),
      worth: names.reduce((sum, { chance }) => sum + chance, line.worth),
    }
  })
  const ranges = Math.max(2, Math.round(budget / tokensPerRange))
  const { folder, shorten } = budget < roomForWholePaths ? shortPaths(ledger) : { shorten: (path: string) => path }
  if (folder !== undefined) lines.push(folderUnit(folder, { cost, ledger }))
  const whole = wholePaths(ledger.files)
  const homes = new Map(
    ledger.files
      .filter(({ path }) => !whole.has(path))
      .map((fact) => [`file ${fact.path}`, fileUnit(fact, { ledger, chances, ranges, cost, since, shorten })]),
  )
  const files = [...homes.values()]
  const names = ledger.names
    .filter(({ name }) => !homes.has(`file ${whole.get(name) ?? name}`))
    .map(
      (fact): NameUnit => ({
        type: 'name',
        text: fact.name,
        cost: cost(` ${fact.name}`),
        worth: chances.get(fact.name) ?? 0,
        // A summary names it again, which is no news: what counts is when the assistant wrote it.
        ...lastingOf(
          fact.written > 0 ? 'name' : undefined,
          { last: fact.writtenLast },
          { since, now: ledger.messages },
        ),
        home: homeAt(homes, { ...fact.home, name: whole.get(fact.home.name) ?? fact.home.name } as Home, cost),
      }),
    )
  return [...lines, ...files, ...names]
}

const tokensPerRange = 1500
/** With so much room, every path is told from its beginning. */
const roomForWholePaths = 8000
/** What short paths cannot do without comes before anything else. */
const indispensable = 1000

function folderUnit(folder: string, { cost, ledger }: Pick<Context, 'cost' | 'ledger'>): LineUnit {
  const text = folderLine(folder)
  const order = -indispensable - ledger.messages
  return { type: 'line', section: 'files', order, text, cost: cost(`${text}\n`), worth: indispensable, names: [] }
}

/** What a name that is certain to be needed is worth, beside the worth of lines. */
const worthOfName = 12

type Context = {
  readonly ledger: Ledger
  readonly chances: ReadonlyMap<string, number>
  readonly ranges: number
  readonly cost: Pricing['cost']
  readonly since: number
  readonly shorten: (path: string) => string
}

function fileUnit(fact: FileFact, { ledger, chances, ranges, cost, since, shorten }: Context): HomeUnit {
  const isOld = fact.last < since
  const text = fileHead(fact, { path: shorten(fact.path), ranges: isOld ? 1 : ranges })
  const kind = fact.changes > 0 ? 'changed' : fact.reads > 0 ? 'read' : undefined
  return {
    type: 'home',
    key: `file ${fact.path}`,
    section: 'files',
    order: -fileScore(fact, ledger.messages),
    text,
    cost: cost(`${text}\n`),
    worth: (chances.get(fact.path) ?? 0) + fileWorth(fact, ledger.messages),
    ...lastingOf(kind, fact, { since, now: ledger.messages }),
  }
}

function homeAt(homes: Map<string, HomeUnit>, home: Home, cost: Pricing['cost']): HomeUnit {
  const key = `${home.type} ${home.name}`
  const known = homes.get(key)
  if (known) return known
  const text = homeHead(home)
  const unit: HomeUnit = {
    type: 'home',
    key,
    section: 'names',
    order: homes.size,
    text,
    cost: cost(`${text}\n`),
    worth: 0,
  }
  homes.set(key, unit)
  return unit
}

/** What only looks is not worth telling: what it showed stands under the files. */
const onlyLooks =
  /^(?:ls|cat|head|tail|sed -n|grep|rg|find|wc|nl|pwd|which|echo|tree|stat|file|git (?:status|diff|log|show|branch|blame|rev-parse|ls-files|add|commit|fetch))\b/

function isVerifying({ purpose }: CommandFact): boolean {
  return purpose !== 'git' && purpose !== 'other'
}

type Placed = { readonly order: number; readonly worth: number; readonly lasting?: number }

function lineUnits(ledger: Ledger, { since, said }: Required<Pick<Pricing, 'since' | 'said'>>): readonly Line[] {
  const now = ledger.messages
  const found: Line[] = []
  const add = (section: Section, text: string, at: Placed) => found.push({ section, text, ...at })
  const lasting = (kind: Lasting, fact: { readonly last: number }) => lastingOf(kind, fact, { since, now })
  for (const [order, todo] of ledger.todos.entries()) {
    add('todos', todoLine(todo), { order, worth: todo.status === 'done' ? 0.2 : 3 })
  }
  for (const [order, text] of repositoryLines(ledger.repository, ledger.commits).entries()) {
    add('repository', text, { order: order - ledger.messages, worth: 3 })
  }
  for (const fact of ledger.commits) {
    add('repository', commitLine(fact, ledger.repository.pushedLast), {
      order: -fact.last / 2,
      worth: 0.3 + 2 * recency(fact.last, now),
      ...lasting('commit', fact),
    })
  }
  for (const fact of ledger.commands) addCommand(fact)
  for (const fact of ledger.errors) {
    const open = fact.fix === undefined ? 1.5 : 1
    const worth = open * (0.5 + 2.5 * recency(fact.last, now))
    add('errors', errorLine(fact), { order: -fact.last, worth, ...lasting('error', fact) })
  }
  for (const fact of ledger.decisions.filter(({ text }) => !said.includes(text))) {
    const worth = (fact.by === 'human' ? 2.5 : 0.8) + 1.5 * recency(fact.last, now)
    add('decisions', decisionLine(fact), { order: fact.last, worth, ...lasting(fact.by, fact) })
  }
  for (const fact of ledger.urls) {
    const worth = urlWorth(fact, now)
    add('urls', urlLine(fact), { order: -fact.last, worth, ...(fact.how === 'seen' ? {} : lasting('address', fact)) })
  }
  return found

  function addCommand(fact: CommandFact): void {
    const place = { order: -fact.last, ...lasting(isVerifying(fact) ? 'verifying' : 'command', fact) }
    if (isVerifying(fact)) {
      add('verification', commandLine(fact), { ...place, worth: 0.3 + 3 * recency(fact.last, now) })
    } else if (!onlyLooks.test(fact.text)) {
      add('commands', commandLine(fact), { ...place, worth: recency(fact.last, now) })
    }
  }
}
