// The rules that are made of our own parts: the one we recommend, its settings, and the fixed ones it is held against.
import { microByIdle, microBySize, type ReductionChoices } from 'everlong'
import { byFold } from './by-fold.ts'

const mechanisms = [microByIdle, microBySize]

export const weighed = byFold({ name: 'weighed (the defaults)', who: 'Everlong', mechanisms })

/** Clears as soon as it pays, not only near the limit; takes a cache for cold when its five minutes are over. */
const eager: ReductionChoices = {
  microCompact: 'always',
  byIdle: { minutes: 5 },
  bySize: { target: 10_000, least: 20_000 },
}

const early = { autoCompactAt: 80_000 } as const

export const settings = [
  weighed,
  byFold({ name: 'weighed, always', who: 'Everlong', mechanisms, reductions: { microCompact: 'always' } }),
  byFold({
    name: 'weighed, idle after 5 minutes',
    who: 'Everlong',
    mechanisms,
    reductions: { byIdle: { minutes: 5 } },
  }),
  byFold({ name: 'eager', who: 'Everlong', mechanisms, reductions: eager }),
  byFold({ name: 'weighed, compaction at 80,000', who: 'Everlong', mechanisms, settings: early }),
  byFold({ name: 'eager, compaction at 80,000', who: 'Everlong', mechanisms, reductions: eager, settings: early }),
] as const

/** What the weighing is held against: each does one thing, whatever it costs. */
export const fixedRules = [
  byFold({ name: 'never clear', who: 'fixed rule', mechanisms: [] }),
  byFold({ name: 'always by size', who: 'fixed rule', mechanisms: [microBySize], reductions: { weigh: false } }),
  byFold({ name: 'by idle time only', who: 'fixed rule', mechanisms: [microByIdle], reductions: { weigh: false } }),
] as const

export const alwaysMicro = byFold({
  name: 'always-micro',
  who: 'fixed rule',
  mechanisms,
  reductions: { microCompact: 'always', weigh: false },
})
