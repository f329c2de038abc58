// The rules that are made of our own parts: the one we recommend, its settings, and the fixed ones it is held against.
import { microByIdle, microBySize } from 'everlong'
import { byFold } from './by-fold.ts'

export const weighed = byFold({ name: 'weighed', who: 'Everlong', mechanisms: [microByIdle, microBySize] })

/** What the weighing is held against: each does one thing, whatever it costs. */
export const fixedRules = [
  byFold({ name: 'never clear', who: 'fixed rule', mechanisms: [] }),
  byFold({ name: 'always by size', who: 'fixed rule', mechanisms: [microBySize], reductions: { weigh: false } }),
  byFold({ name: 'by idle time only', who: 'fixed rule', mechanisms: [microByIdle], reductions: { weigh: false } }),
] as const
