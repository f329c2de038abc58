// Fills a budget with units, the most worth for a token first. A heading opens when the names that wait for it are
// worth it together; what already stands on the page is not said again.
import { type NameCache, namesIn } from './names.ts'
import type { HomeUnit, LineUnit, NameUnit, Unit } from './units.ts'

export type OpenHome = HomeUnit & { readonly names: readonly string[] }
export type Choice = {
  readonly lines: readonly LineUnit[]
  readonly homes: readonly OpenHome[]
  /** Nothing was left out. */
  readonly isAll: boolean
}

export type Budget = {
  readonly tokens: number
  /** How many of these are for what earlier rounds knew, before anything else is chosen. */
  readonly memories: number
  /** What the reader sees anyway. */
  readonly shown: ReadonlySet<string>
  /** The words of a text; whoever fills several pages with the same units has them read once. */
  readonly wordsOf: (text: string) => ReadonlySet<string>
}

type Group = {
  readonly unit: HomeUnit
  readonly names: string[]
  waiting: NameUnit[]
  /** Of the heading with the names that wait for it. */
  worth: number
  cost: number
  isOpen: boolean
}

/** Fills one page. Whoever fills several with the same units has them ranked once. */
export function choose({ ranked, memories }: Ranking, budget: Budget): Choice {
  const groups = new Map<string, Group>()
  const lines: LineUnit[] = []
  const page = createPage(budget)
  const groupOf = (home: HomeUnit) => {
    const group = groups.get(home.key) ?? newGroup(home)
    groups.set(home.key, group)
    return group
  }
  for (const next of memories) {
    if (page.left() < budget.tokens - budget.memories) break
    if (next.type === 'home') open(groupOf(next), page)
    else if (next.type === 'line') {
      if (page.take(next)) lines.push(next)
    } else {
      const group = groupOf(next.home)
      if (group.isOpen && !page.isShown(wordOf(next.text)) && page.take(next)) group.names.push(next.text)
    }
  }
  const taken = new Set<Unit>(lines)
  const queue = createQueue(
    ranked.filter(({ unit }) => !taken.has(unit)),
    page,
  )
  for (let next = queue.next(); next && !page.isFull(); next = queue.next()) {
    if (next.type === 'line') {
      if (page.take(next)) lines.push(next)
    } else if (next.type === 'home') open(groupOf(next), page)
    else if (!page.isShown(wordOf(next.text))) place(next, { group: groupOf(next.home), page, queue })
  }
  // A name may have come before a line that says it too: the line tells more of it than a list without a file.
  const said = new Set(lines.flatMap(({ text }) => [...budget.wordsOf(text)]))
  const homes = [...groups.values()]
    .filter(({ isOpen }) => isOpen)
    .map(({ unit, names }) => ({
      ...unit,
      names: unit.section === 'files' ? names : names.filter((name) => !said.has(wordOf(name))),
    }))
  return { lines, homes, isAll: page.hasTakenAll() }
}

function newGroup(unit: HomeUnit): Group {
  return { unit, names: [], waiting: [], worth: unit.worth, cost: unit.cost, isOpen: false }
}

type Ranked = { readonly unit: Unit; readonly density: number }

export type Ranking = {
  /** The most worth for a token first. */
  readonly ranked: readonly Ranked[]
  /** What earlier rounds knew, in the same order; a name never before the place it belongs to. */
  readonly memories: readonly Unit[]
}

export function rank(units: readonly Unit[]): Ranking {
  const density = ({ lasting = 0, cost }: Unit) => lasting / cost
  const old = units.flatMap((unit): readonly Ranked[] => {
    if (unit.lasting === undefined) return []
    return [{ unit, density: unit.type === 'name' ? Math.min(density(unit), density(unit.home)) : density(unit) }]
  })
  return {
    ranked: densest(units.map((unit) => ({ unit, density: unit.worth / unit.cost }))),
    // Sorting keeps the order of equals: places come before names.
    memories: densest([
      ...old.filter(({ unit }) => unit.type !== 'name'),
      ...old.filter(({ unit }) => unit.type === 'name'),
    ]).map(({ unit }) => unit),
  }
}

function densest(units: readonly Ranked[]): readonly Ranked[] {
  return units.toSorted((a, b) => b.density - a.density)
}

type Queue = {
  readonly next: () => Unit | undefined
  /** This unit has its turn when the others are no denser. */
  readonly defer: (unit: Unit, density: number) => unknown
}

/**
 * In order of rank. A line is also worth the names in it, but only those that do not stand on the page when its turn
 * comes: then it is weighed again, and waits for its new turn if it has become lighter.
 */
function createQueue(ranked: readonly Ranked[], page: Page): Queue {
  const deferred: Ranked[] = []
  let at = 0
  const defer = (unit: Unit, density: number) => deferred.splice(placeFor(deferred, density), 0, { unit, density })
  const next = (): Unit | undefined => {
    for (;;) {
      const first = deferred.at(-1)
      const fresh = ranked[at]
      if (first && (!fresh || first.density >= fresh.density)) return deferred.pop()?.unit
      if (!fresh) return undefined
      at++
      const density = fresh.unit.type === 'line' ? worthLeft(fresh.unit, page) / fresh.unit.cost : fresh.density
      if (density >= fresh.density * 0.95) return fresh.unit
      defer(fresh.unit, density)
    }
  }
  return { next, defer }
}

/** Where this density belongs among rising ones. */
function placeFor(rising: readonly Ranked[], density: number): number {
  let low = 0
  let high = rising.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rising[middle]?.density ?? 0) < density) low = middle + 1
    else high = middle
  }
  return low
}

function worthLeft({ worth, names }: LineUnit, page: Page): number {
  return names.reduce((left, { name, chance }) => (page.isShown(name) ? left - chance : left), worth)
}

type Placing = { readonly group: Group; readonly page: Page; readonly queue: Queue }

/** A name whose home is not open waits, and its home's turn comes when both together are worth it. */
function place(name: NameUnit, { group, page, queue }: Placing): void {
  if (group.isOpen) {
    if (page.take(name)) group.names.push(name.text)
    return
  }
  group.waiting.push(name)
  group.worth += name.worth
  group.cost += name.cost
  queue.defer(group.unit, group.worth / group.cost)
}

function open(group: Group, page: Page): void {
  if (group.isOpen || !page.take(group.unit)) return
  group.isOpen = true
  for (const name of group.waiting) {
    if (!page.isShown(wordOf(name.text)) && page.take(name)) group.names.push(name.text)
  }
  group.waiting = []
}

/** Of a number with its label, the number: under another label it has been said too. */
function wordOf(name: string): string {
  const [, behind, before] = /[ :~](\d[\d–-]*)$|^~?(\d[\d–-]*) /.exec(name) ?? []
  return behind ?? before ?? name
}

type Page = {
  readonly isFull: () => boolean
  readonly left: () => number
  readonly hasTakenAll: () => boolean
  readonly take: (unit: Unit) => boolean
  /** Whether this stands there as a word of its own. */
  readonly isShown: (text: string) => boolean
}

function createPage({ tokens, shown, wordsOf }: Budget): Page {
  let left = tokens
  let hasTakenAll = true
  const words = new Set(shown)
  return {
    isFull: () => left <= 0,
    left: () => left,
    hasTakenAll: () => hasTakenAll,
    take: ({ text, cost }) => {
      if (cost > left) {
        hasTakenAll = false
        return false
      }
      left -= cost
      for (const word of wordsOf(text)) words.add(word)
      return true
    },
    isShown: (word) => words.has(word),
  }
}

/** `wordsIn` that remembers. */
export function createWordReader(): (text: string) => ReadonlySet<string> {
  const read = new Map<string, ReadonlySet<string>>()
  const cache: NameCache = new Map()
  return (text) => {
    const known = read.get(text) ?? wordsIn(text, cache)
    read.set(text, known)
    return known
  }
}

/** The names that a reader of this text has seen: a path shows its ends too, a labelled number the number. */
export function wordsIn(text: string, cache: NameCache = new Map()): ReadonlySet<string> {
  const words = new Set<string>(text.match(/\d{3,}/g))
  for (const name of namesIn(text, cache)) {
    words.add(name)
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) words.add(name.slice(at + 1))
    if (name.includes('.')) for (const part of name.split(/[^\w$]+/)) words.add(part)
  }
  return words
}
