// The rules that are made of our own parts: the defaults, settings of them, and the fixed ones they are held against.
import type { EngineSettings } from 'everlong'
import { microByIdle, microBySize } from 'everlong/mechanisms'
import { bySession } from './by-session.ts'

const ours = (name: string, settings: EngineSettings = {}) => bySession({ name, who: 'Everlong', settings })

/** The thresholds of the specification. Notes are requests of their own: the fixed rules take none either. */
const specified = { economy: 'claude-code', sessionMemory: false } as const

export const defaults = ours('the defaults')
export const thrifty = ours('thrifty', { economy: 'thrifty' })
export const claudeCode = ours('claude-code', { economy: 'claude-code' })
export const weighed = ours('claude-code without notes', specified)

const noNotes = { sessionMemory: false } as const

/** What the cache clock does, each alone and together, on the defaults without notes. */
export const clockRules = [
  ours('without the clock', { ...noNotes, cacheMarks: '5m' }),
  ours('marks of an hour', { ...noNotes, cacheMarks: '1h' }),
  ours('marks by the pauses', { ...noNotes, cacheMarks: 'auto' }),
  ours('compacted when idle', { ...noNotes, cacheMarks: '5m', compactWhenIdle: true }),
  ours('marks by the pauses, compacted when idle', { ...noNotes, cacheMarks: 'auto', compactWhenIdle: true }),
] as const

const fixed = (name: string, mechanisms: readonly (typeof microByIdle)[]) =>
  bySession({
    name,
    who: 'fixed rule',
    settings: { ...specified, reductions: { weigh: false } },
    mechanisms: { reduce: mechanisms },
  })

/** What the weighing is held against: each does one thing, whatever it costs. */
export const fixedRules = [
  fixed('never clear', []),
  fixed('always by size', [microBySize]),
  fixed('by idle time only', [microByIdle]),
] as const

export const alwaysMicro = bySession({
  name: 'always-micro',
  who: 'fixed rule',
  settings: { ...specified, reductions: { microCompact: 'always', weigh: false } },
  mechanisms: { reduce: [microByIdle, microBySize] },
})
