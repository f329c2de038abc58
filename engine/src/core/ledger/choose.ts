// Fills a budget with units, the most worth for a token first. A heading opens when the names that wait for it are
// worth it together; what already stands on the page is not said again.
import { namesIn } from './names.ts'
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
  readonly cost: (text: string) => number
  /** What the reader sees anyway. */
  readonly shown: ReadonlySet<string>
}

type Group = {
  readonly unit: HomeUnit
  readonly names: string[]
  waiting: NameUnit[]
  isOpen: boolean
}

export function choose(units: readonly Unit[], budget: Budget): Choice {
  const groups = new Map<string, Group>()
  const lines: LineUnit[] = []
  const page = createPage(budget)
  const queue = createQueue(units, { page, budget })
  for (let next = queue.next(); next && !page.isFull(); next = queue.next()) {
    if (next.type === 'line') {
      if (page.take(next.text, costOf(next, budget))) lines.push(next)
      continue
    }
    const home = next.type === 'home' ? next : next.home
    const group: Group = groups.get(home.key) ?? { unit: home, names: [], waiting: [], isOpen: false }
    groups.set(home.key, group)
    if (next.type === 'home') open(group, { page, budget })
    else if (!page.isShown(wordOf(next.text))) place(next, { group, page, budget, queue })
  }
  const homes = [...groups.values()].filter(({ isOpen }) => isOpen)
  return { lines, homes: homes.map(({ unit, names }) => ({ ...unit, names })), isAll: page.hasTakenAll() }
}

type Ranked = { readonly unit: Unit; readonly density: number }
type Queue = {
  readonly next: () => Unit | undefined
  /** This unit has its turn when the others are no denser. */
  readonly defer: (unit: Unit, density: number) => void
}

/**
 * The most worth for a token first. A line is also worth the names in it, but only those that do not stand on the page
 * when its turn comes: then it is weighed again, and waits for its new turn if it has become lighter.
 */
function createQueue(units: readonly Unit[], { page, budget }: Filling): Queue {
  const ranked = units
    .map((unit): Ranked => ({ unit, density: unit.worth / costOf(unit, budget) }))
    .toSorted((a, b) => b.density - a.density)
  const deferred: Ranked[] = []
  let at = 0
  const defer = (unit: Unit, density: number) => {
    const place = deferred.findIndex((other) => other.density < density)
    deferred.splice(place < 0 ? deferred.length : place, 0, { unit, density })
  }
  const next = (): Unit | undefined => {
    for (;;) {
      const [first] = deferred
      const fresh = ranked[at]
      if (first && (!fresh || first.density >= fresh.density)) return deferred.shift()?.unit
      if (!fresh) return undefined
      at++
      const density =
        fresh.unit.type === 'line' ? worthLeft(fresh.unit, page) / costOf(fresh.unit, budget) : fresh.density
      if (density >= fresh.density * 0.95) return fresh.unit
      defer(fresh.unit, density)
    }
  }
  return { next, defer }
}

function worthLeft({ worth, names }: LineUnit, page: Page): number {
  return names.reduce((left, { name, chance }) => (page.isShown(name) ? left - chance : left), worth)
}

/** A name is paid with the comma before it, anything else with the end of its line. */
function costOf(unit: Unit, { cost }: Budget): number {
  return unit.type === 'name' ? cost(`, ${unit.text}`) : cost(`${unit.text}\n`)
}

type Filling = { readonly page: Page; readonly budget: Budget }

/** A name whose home is not open waits, and its home's turn comes when both together are worth it. */
function place(name: NameUnit, at: Filling & { readonly group: Group; readonly queue: Queue }): void {
  const { group, page, budget, queue } = at
  if (group.isOpen) {
    if (page.take(name.text, costOf(name, budget))) group.names.push(name.text)
    return
  }
  group.waiting.push(name)
  queue.defer(group.unit, densityOf(group, budget))
}

/** Of a heading with the names that wait for it. */
function densityOf({ unit, waiting }: Group, budget: Budget): number {
  let { worth } = unit
  let cost = costOf(unit, budget)
  for (const name of waiting) {
    worth += name.worth
    cost += costOf(name, budget)
  }
  return worth / cost
}

function open(group: Group, { page, budget }: Filling): void {
  if (group.isOpen) return
  if (!page.take(group.unit.text, costOf(group.unit, budget))) return
  group.isOpen = true
  for (const name of group.waiting) {
    if (!page.isShown(wordOf(name.text)) && page.take(name.text, costOf(name, budget))) group.names.push(name.text)
  }
  group.waiting = []
}

/** Of a number with its label, the number: under another label it has been said too. */
function wordOf(name: string): string {
  return / \d[\d–-]*$/.test(name) ? name.slice(name.lastIndexOf(' ') + 1) : name
}

type Page = {
  readonly isFull: () => boolean
  readonly hasTakenAll: () => boolean
  readonly take: (text: string, cost: number) => boolean
  /** Whether this stands there as a word of its own. */
  readonly isShown: (text: string) => boolean
}

function createPage({ tokens, shown }: Budget): Page {
  let left = tokens
  let hasTakenAll = true
  const words = new Set(shown)
  return {
    isFull: () => left <= 0,
    hasTakenAll: () => hasTakenAll,
    take: (text, cost) => {
      if (cost > left) {
        hasTakenAll = false
        return false
      }
      left -= cost
      for (const word of wordsIn(text)) words.add(word)
      return true
    },
    isShown: (word) => words.has(word),
  }
}

/** The names that a reader of this text has seen: a path shows its ends too, a labelled number the number. */
export function wordsIn(text: string): ReadonlySet<string> {
  const words = new Set<string>(text.match(/\d{3,}/g))
  for (const name of namesIn(text, new Map())) {
    words.add(name)
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) words.add(name.slice(at + 1))
    if (name.includes('.')) for (const part of name.split(/[^\w$]+/)) words.add(part)
  }
  return words
}
